"""Receives the webhooks of PV Onboarding and keeps each event once, in SQLite. Needs nothing but Python 3.9.

    WEBHOOK_SECRET=whsec_... PORT=8080 DATABASE=events.db python3 receive_webhooks.py

WEBHOOK_SECRET is the `secret` of the endpoint. The program runs behind a proxy with TLS.
"""

import base64
import hashlib
import hmac
import json
import os
import sqlite3
import time
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = base64.b64decode(os.environ["WEBHOOK_SECRET"].removeprefix("whsec_"))
DATABASE = os.environ.get("DATABASE", "events.db")
TOLERANCE_SECONDS = 300
MAX_BYTES = 1_000_000

CREATE = "CREATE TABLE IF NOT EXISTS events (id TEXT PRIMARY KEY, sequence TEXT, type TEXT, subject TEXT, data TEXT)"
# An event may arrive several times, always with the same id.
INSERT = "INSERT OR IGNORE INTO events VALUES (?, ?, ?, ?, ?)"


def is_genuine(headers, body):
    message_id, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not timestamp.isdecimal() or abs(time.time() - int(timestamp)) > TOLERANCE_SECONDS:
        return False
    digest = hmac.digest(SECRET, f"{message_id}.{timestamp}.".encode() + body, hashlib.sha256)
    expected = "v1," + base64.b64encode(digest).decode()
    # While a secret is being replaced, there is a signature by each.
    given = headers.get("webhook-signature", "").split()
    return any(hmac.compare_digest(each.encode(), expected.encode()) for each in given)


def keep(event):
    row = (event["id"], event.get("sequence"), event["type"], event.get("subject"), json.dumps(event["data"]))
    with closing(sqlite3.connect(DATABASE, timeout=10)) as database, database:
        database.execute(INSERT, row)


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 30

    def do_POST(self):
        length = self.headers.get("content-length", "")
        if not length.isdecimal() or int(length) > MAX_BYTES:
            self.close_connection = True
            return self.answer(413)
        body = self.rfile.read(int(length))
        if not is_genuine(self.headers, body):
            return self.answer(401)
        # A failure is a 500, so that the event is sent again.
        try:
            keep(json.loads(body))
        except sqlite3.Error as error:
            self.log_error("an event could not be kept: %s", error)
            return self.answer(500)
        self.answer(200)

    def answer(self, status):
        self.send_response(status)
        self.send_header("content-length", "0")
        self.end_headers()


if __name__ == "__main__":
    with closing(sqlite3.connect(DATABASE)) as database, database:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute(CREATE)
    ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8080"))), Receiver).serve_forever()
