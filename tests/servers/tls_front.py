"""TLS in front of a port: tls_front.py CERT KEY PORT FILE writes its own port to FILE."""

import os
import socket
import ssl
import sys
import threading


def pump(source, target):
    try:
        while data := source.recv(65536):
            target.sendall(data)
    except OSError:
        pass
    finally:
        target.close()


def serve(front, port):
    back = socket.create_connection(("127.0.0.1", port))
    threading.Thread(target=pump, args=(back, front), daemon=True).start()
    pump(front, back)


def main():
    cert, key, port, file = sys.argv[1:]
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    listener = socket.create_server(("127.0.0.1", 0))
    with open(file + ".new", "w") as out:
        out.write("%d\n" % listener.getsockname()[1])
    os.rename(file + ".new", file)
    while True:
        plain, _ = listener.accept()
        try:
            front = context.wrap_socket(plain, server_side=True)
        except OSError:
            continue
        threading.Thread(target=serve, args=(front, int(port)), daemon=True).start()


if __name__ == "__main__":
    main()
