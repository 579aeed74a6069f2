// What the page asks for besides the socket. The token travels in a header, never in an address.

export class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

export class Server {
  constructor(token) {
    this.token = token;
  }

  // Throws Refused, and TypeError while nobody answers.
  async get(path) {
    return this.send("GET", path);
  }

  async patch(path, body) {
    return this.send("PATCH", path, body);
  }

  async send(method, path, body) {
    const headers = { Authorization: `Bearer ${this.token}` };
    if (body !== undefined) headers["Content-Type"] = "application/json";
    const response = await fetch(path, { method, headers, body: body && JSON.stringify(body), cache: "no-store" });
    if (response.ok) return response.json();
    const told = await response.json().catch(() => ({}));
    throw new Refused(response.status, told.error?.message ?? `the server answered ${response.status}`);
  }
}
