"""A receiver of CloudEvents for specs: sink_receiver.py LOG [PORT] prints its port. LOG has a line for each event that it
took: id, partitionkey, and the body's type. What it responds is the file LOG.mode: words of "ok", "flaky SHARE" (fails at
random, half of the times after it took the events), "down" (503), "busy SECONDS" (429 with Retry-After, once), "moved"
(302), "choosy" (400 when an event has the subject "bad"). With a file LOG.login it takes none without that as their
Authorization (401). With TLS=FOLDER it has the certificate server.crt in it, and wants one of client.crt."""
import http.server, json, os, random, ssl, sys, time

log = sys.argv[1]
random.seed(int(os.environ.get("SEED", "1")))


def mode():
    try:
        with open(log + ".mode") as file:
            return file.read().split()
    except OSError:
        return ["ok"]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def respond(self, code, headers=()):
        self.send_response(code)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def take(self, events):
        with open(log, "a") as file:
            file.write("".join("%s %s %s %.3f %s\n" % (event["id"], event.get("partitionkey", "-"),
                self.headers["Content-Type"], time.time(), self.headers.get("X-Key", "-")) for event in events))

    def do_GET(self):
        self.respond(200)

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        events, how = body if isinstance(body, list) else [body], mode()
        with open(log + ".requests", "a") as file:
            file.write("%.3f %d\n" % (time.time(), len(events)))
        if os.path.exists(log + ".login"):
            with open(log + ".login") as file:
                if self.headers.get("Authorization", "") != file.read():
                    return self.respond(401)
        if how[0] == "down":
            return self.respond(503)
        if how[0] == "moved":
            return self.respond(302, [("Location", "/elsewhere")])
        if how[0] == "busy":
            with open(log + ".mode", "w") as file:
                file.write("ok")
            return self.respond(429, [("Retry-After", how[1])])
        if how[0] == "choosy" and any(event.get("subject") == "bad" for event in events):
            return self.respond(400)
        if how[0] == "flaky" and random.random() < float(how[1]):
            if random.random() < 0.5:
                self.take(events)
            if random.random() < 0.5:
                self.close_connection = True
                return None
            return self.respond(random.choice([500, 503, 429, 408]))
        self.take(events)
        return self.respond(202)


# A line that was not complete is of a receiver that was killed before it responded.
if os.path.exists(log):
    with open(log, "rb+") as file:
        file.truncate(file.read().rfind(b"\n") + 1)
server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2]) if len(sys.argv) > 2 else 0), Handler)
if "TLS" in os.environ:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(os.environ["TLS"] + "/server.crt", os.environ["TLS"] + "/server.key")
    tls.load_verify_locations(os.environ["TLS"] + "/client.crt")
    tls.verify_mode = ssl.CERT_REQUIRED
    server.socket = tls.wrap_socket(server.socket, server_side=True)
print("port", server.server_address[1], flush=True)
server.serve_forever()
