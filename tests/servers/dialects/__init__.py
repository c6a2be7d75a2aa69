"""How model services answer: a module each, with body(answer) as tests/servers/model.py says."""
