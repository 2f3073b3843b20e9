# SPDX-License-Identifier: Apache-2.0
"""The two kinds of store as whole-process tests meet them: what stands in the configuration, how a test reads and
changes rows beside the gateway, and how the store is taken away. `CONSENT_GATEWAY_TEST_STORE=postgres` makes every test
of whole processes run on PostgreSQL, on the server of `CONSENT_GATEWAY_TEST_POSTGRES` (`Tests/postgres with …`)."""
import os
import random
import re
import secrets
import sqlite3
import subprocess
import tempfile
import threading
import urllib.parse

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
TABLES = "consents, code_reservations"


def kind():
    """Which store the tests of this process use."""
    return os.environ.get("CONSENT_GATEWAY_TEST_STORE", "sqlite")


def make_store(folder):
    """The store of one house."""
    if kind() == "sqlite":
        return SQLiteFile(folder)
    url = os.environ.get("CONSENT_GATEWAY_TEST_POSTGRES")
    if not url:
        raise SystemExit("CONSENT_GATEWAY_TEST_POSTGRES is not set: run this under `Tests/postgres with`")
    return PostgresDatabase(url)


class SQLiteFile:
    """A database file in the house's folder."""

    def __init__(self, folder):
        self.folder = folder
        self.settings = 'store: { url: "sqlite:consents.db" }\n'
        self.needs_migration = False

    def execute(self, statements):
        """Runs statements one after the other in one transaction; answers the last one's rows."""
        connection = sqlite3.connect(f"{self.folder}/consents.db", timeout=20)
        try:
            with connection:
                rows = []
                for statement in statements:
                    rows = connection.execute(statement).fetchall()
                return rows
        finally:
            connection.close()

    @staticmethod
    def blob(digits):
        """Bytes as a statement writes them."""
        return f"x'{digits}'"

    def files(self):
        return []

    def remove(self):
        pass


class PostgresDatabase:
    """A database of its own on a server that the tests share, or on one of its own."""

    def __init__(self, server_url):
        self.server_url = server_url
        self.name = "gateway_" + secrets.token_hex(6)
        psql(server_url, [f'CREATE DATABASE "{self.name}"'])
        self.url = with_database(server_url, self.name)
        self.settings = f'store: {{ url: "{self.url}", pool: 6 }}\nstate_dir: .\n'
        self.needs_migration = True

    def execute(self, statements):
        return psql(self.url, statements)

    @staticmethod
    def blob(digits):
        return f"'\\x{digits}'::bytea"

    def files(self):
        """A dump in place of the server's files: what can be read there can be read in it."""
        dump = tempfile.NamedTemporaryFile(prefix="consent-gateway-test-", delete=False)
        subprocess.run([program("pg_dump"), self.url], stdout=dump, check=True)
        dump.close()
        return [dump.name]

    def remove(self):
        psql(self.server_url, [f'DROP DATABASE "{self.name}" WITH (FORCE)'])


def with_database(url, name):
    parts = urllib.parse.urlsplit(url)
    return urllib.parse.urlunsplit(parts._replace(path="/" + name))


def program(name):
    """PostgreSQL's programs of the newest version that is there."""
    folder = "/usr/lib/postgresql"
    versions = sorted(os.listdir(folder), key=float) if os.path.isdir(folder) else []
    return f"{folder}/{versions[-1]}/bin/{name}" if versions else name


def psql(url, statements, timeout=60):
    """Runs statements; the last one's rows, whole numbers as such. One transaction where there are more than one."""
    command = [program("psql"), url, "-XAtq", "-F", "\t", "-P", "null=(null)", "-v", "ON_ERROR_STOP=1"]
    if len(statements) > 1:
        command.append("-1")
    for statement in statements:
        command += ["-c", statement]
    done = subprocess.run(command, capture_output=True, timeout=timeout)
    if done.returncode != 0:
        raise OSError(done.stderr.decode())
    return [tuple(map(value, line.split("\t"))) for line in done.stdout.decode().splitlines()]


def value(text):
    if text == "(null)":
        return None
    return int(text) if re.fullmatch(r"-?\d+", text) else text


class PostgresServer:
    """A server of a test's own, which it may take away, kill, copy and promote."""

    def __init__(self, *settings):
        self.home = tempfile.mkdtemp(prefix="consent-gateway-test-")
        os.chmod(self.home, 0o755)
        self.folder = f"{self.home}/cluster"
        self.url = self.do("start", *settings).strip()

    def do(self, command, *arguments):
        """One command of Tests/postgres on this server's folder; what it printed."""
        done = subprocess.run([f"{ROOT}/Tests/postgres", command, self.folder, *arguments], capture_output=True,
                              timeout=120)
        if done.returncode != 0:
            raise OSError(f"Tests/postgres {command}: {done.stderr.decode()}")
        return done.stdout.decode()

    def replica(self, *settings):
        """Another server that follows this one."""
        other = object.__new__(PostgresServer)
        other.home = tempfile.mkdtemp(prefix="consent-gateway-test-")
        os.chmod(other.home, 0o755)
        other.folder = f"{other.home}/cluster"
        other.url = other.do("follow", self.folder, *settings).strip()
        return other

    def remove(self):
        subprocess.run([f"{ROOT}/Tests/postgres", "stop", self.folder], capture_output=True, timeout=60)
        os.rmdir(self.home)


class Session:
    """One connection that is kept open, with a transaction in it."""

    def __init__(self, url):
        self.process = subprocess.Popen([program("psql"), url, "-XAtq", "-v", "ON_ERROR_STOP=1"],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def execute(self, statement):
        """Returns once it is done, with the lines of its rows."""
        mark, rows = secrets.token_hex(4), []
        self.process.stdin.write(f"{statement};\n\\echo {mark}\n".encode())
        self.process.stdin.flush()
        for line in self.process.stdout:
            if line.decode().strip() == mark:
                return rows
            rows.append(line.decode().strip())
        raise OSError(f"psql ended at: {statement}")

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=30)
        self.process.stdout.close()


class LockedFile:
    """Holds a SQLite database as another process would."""

    def __init__(self, house):
        self.connection = sqlite3.connect(f"{house.folder}/consents.db", isolation_level=None, timeout=10,
                                          check_same_thread=False)

    def take(self):
        self.connection.execute("BEGIN IMMEDIATE")

    def release(self):
        if self.connection.in_transaction:
            self.connection.execute("ROLLBACK")

    def close(self):
        self.release()
        self.connection.close()


class LockedTables:
    """Holds every table that matters, as a migration by hand would."""

    def __init__(self, house):
        self.session = Session(house.store.url)
        self.is_taken = False

    def take(self):
        self.session.execute(f"BEGIN; LOCK TABLE {TABLES} IN EXCLUSIVE MODE")
        self.is_taken = True

    def release(self):
        if self.is_taken:
            self.session.execute("ROLLBACK")
        self.is_taken = False

    def close(self):
        self.release()
        self.session.close()


# Keeps everybody else from writing.
Lock = LockedFile if kind() == "sqlite" else LockedTables


class ServerAway:
    """A server of the house's own, which is killed and started again."""

    def __init__(self, server):
        self.server, self.is_taken = server, False

    def take(self):
        self.is_taken = True
        self.server.do("kill")

    def release(self):
        if self.is_taken:
            self.server.do("started")
        self.is_taken = False

    def close(self):
        self.release()


class CutConnections:
    """Ends every connection of the gateways, again and again, as an administrator or a balancer does."""

    def __init__(self, house):
        self.url, self.over, self.thread, self.count = house.store.url, threading.Event(), None, 0

    def take(self):
        self.over.clear()
        self.cut()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while not self.over.wait(random.uniform(0.02, 0.2)):
            self.cut()

    def cut(self):
        self.count += psql(self.url, [
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
            "WHERE datname = current_database() AND application_name LIKE 'consent-gateway%'"])[0][0]

    def release(self):
        self.over.set()
        if self.thread:
            self.thread.join()
        self.thread = None

    def close(self):
        self.release()
