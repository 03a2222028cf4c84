"""Credentials of NATS for specs: nats_jwt.py FOLDER writes FOLDER/user.creds, a user's, and FOLDER/operator.conf, lines
for a server that trusts its operator. Keys are made anew each time; openssl signs."""
import base64, hashlib, json, struct, subprocess, sys, time

folder = sys.argv[1]
OPERATOR, ACCOUNT, USER, SEED = 14 << 3, 0, 20 << 3, 18 << 3


def base32(data):
    return base64.b32encode(data).decode().rstrip("=")


def base64url(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def with_crc(data):
    crc = 0
    for byte in data:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ 0x1021 if crc & 0x8000 else crc << 1) & 0xFFFF
    return data + struct.pack("<H", crc)


class Key:
    def __init__(self, kind, name):
        self.kind, self.path = kind, "%s/%s.pem" % (folder, name)
        self.openssl("genpkey", "-algorithm", "ed25519", "-out", self.path)
        self.private = self.openssl("pkey", "-in", self.path, "-outform", "DER")[-32:]
        public = self.openssl("pkey", "-in", self.path, "-pubout", "-outform", "DER")[-32:]
        self.name = base32(with_crc(bytes([kind]) + public))

    @staticmethod
    def openssl(*words):
        return subprocess.run(["openssl", *words], check=True, capture_output=True).stdout

    def seed(self):
        head = bytes([SEED | self.kind >> 5, (self.kind & 31) << 3])
        return base32(with_crc(head + self.private))

    def sign(self, text):
        with open(folder + "/text", "w") as file:
            file.write(text)
        return self.openssl("pkeyutl", "-sign", "-rawin", "-inkey", self.path, "-in", folder + "/text")

    def token(self, subject, **claims):
        body = {"iat": int(time.time()), "iss": self.name, "sub": subject.name, "name": "spec",
                "nats": {"version": 2, **claims}}
        body["jti"] = base32(hashlib.sha256(json.dumps(body).encode()).digest())
        text = ".".join(base64url(json.dumps(part).encode()) for part in ({"typ": "JWT", "alg": "ed25519-nkey"}, body))
        return text + "." + base64url(self.sign(text))


operator, user = Key(OPERATOR, "operator"), Key(USER, "user")
system, account = Key(ACCOUNT, "system"), Key(ACCOUNT, "account")
limits = dict.fromkeys(["subs", "data", "payload", "imports", "exports", "conn", "leaf"], -1)
stored = dict.fromkeys(["mem_storage", "disk_storage", "streams", "consumer"], -1)
accounts = {one.name: operator.token(one, type="account", limits={**limits, **more, "wildcards": True})
            for one, more in ((system, {}), (account, stored))}
with open(folder + "/operator.conf", "w") as file:
    file.write("operator: %s\nsystem_account: %s\nresolver: MEMORY\nresolver_preload: { %s }\n" % (
        operator.token(operator, type="operator"), system.name,
        ", ".join("%s: %s" % pair for pair in accounts.items())))
with open(folder + "/user.creds", "w") as file:
    file.write("-----BEGIN NATS USER JWT-----\n%s\n------END NATS USER JWT------\n\n"
               "-----BEGIN USER NKEY SEED-----\n%s\n------END USER NKEY SEED------\n" % (
                   account.token(user, type="user", subs=-1, data=-1, payload=-1), user.seed()))
