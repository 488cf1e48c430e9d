"""Registers the customers of a file, as a campaign of PV Onboarding. Needs nothing but Python 3.9.

    API=http://127.0.0.1:3000/api/v1 KEY=... python3 import_customers.py customers.csv [result.csv]

Checks the file first, and stops if a row is invalid. It may be started again at any time: the same file is the same campaign for 24 hours,
and after that its customers are known. KEY needs the scopes users:read and users:write.
"""

import hashlib
import json
import os
import sys
import time
import urllib.error
import urllib.request

API, KEY = os.environ["API"].rstrip("/"), os.environ["KEY"]
OVER = ("finished", "cancelled")


def call(method, path, body=None, **headers):
    headers = {"authorization": f"Bearer {KEY}", **headers}
    request = urllib.request.Request(API + path, body, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=120) as response:
            return response.read()
    except urllib.error.HTTPError as error:
        problem = json.load(error)
        sys.exit(f"{problem['title']}: {problem['detail']} (request {problem['requestId']})")


def upload(file, query, **headers):
    headers = {"content-type": "text/csv", **headers}
    return json.loads(call("POST", f"/campaigns?{query}", file, **headers))


def main(path, result=None):
    with open(path, "rb") as opened:
        file = opened.read()
    checked = upload(file, "dryRun=true")
    if checked["counts"]["invalid"] > 0:
        rows = json.loads(call("GET", f"/campaigns/{checked['id']}/rows?status=invalid&limit=200"))
        for row in rows["items"]:
            for problem in row["problems"]:
                print(f"line {row['line']}, {problem['column']}: {problem['message']}")
        sys.exit(f"{checked['counts']['invalid']} of {checked['rows']} rows are invalid: nothing was registered")
    key = {"idempotency-key": hashlib.sha256(file).hexdigest()}
    campaign = upload(file, "dryRun=false", **key)
    while campaign["status"] not in OVER:
        time.sleep(1)
        campaign = json.loads(call("GET", f"/campaigns/{campaign['id']}"))
        print(", ".join(f"{count} {status}" for status, count in campaign["counts"].items() if count > 0))
    if result is not None:
        with open(result, "wb") as opened:
            opened.write(call("GET", f"/campaigns/{campaign['id']}/result.csv"))


if __name__ == "__main__":
    main(*sys.argv[1:])
