"""How model services answer: a module each, with body(answer) as tests/model_server.py says."""
