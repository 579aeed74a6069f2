// HTTP requests of the page. The token goes in a header, never in a URL. All errors have a sentence for the user.

import { fromServer, t } from "./texts.js";

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

  // Throws Refused, and another Error if the server does not answer.
  async get(path) {
    return this.send("GET", path);
  }

  async patch(path, body) {
    return this.send("PATCH", path, body);
  }

  async delete(path) {
    return this.send("DELETE", path);
  }

  async post(path, body) {
    return this.send("POST", path, body);
  }

  // Shows what is at a path; `refused` gets the refusal. Without an answer, what is shown stays.
  async show(path, show, refused = () => {}) {
    let answer;
    try {
      answer = await this.get(path);
    } catch (error) {
      if (error instanceof Refused) refused(error);
      return;
    }
    show(answer);
  }

  // A sound file.
  async sound(path, body) {
    return (await this.ask(path, body && { method: "POST", body: JSON.stringify(body) })).arrayBuffer();
  }

  // A streamed response, piece by piece.
  async stream(path, signal) {
    return (await this.ask(path, { signal })).body;
  }

  async send(method, path, body) {
    return (await this.ask(path, { method, body: body && JSON.stringify(body) })).json();
  }

  async ask(path, given) {
    const headers = { Authorization: `Bearer ${this.token}`, "Content-Type": "application/json" };
    const response = await fetch(path, { headers, cache: "no-store", ...given }).catch(() => {
      throw new Error(t("noAnswer"));
    });
    if (response.ok) return response;
    const body = await response.json().catch(() => ({}));
    throw new Refused(response.status, fromServer(`error.${body.error?.code}`, body.error?.message ?? t("answered", { status: response.status })));
  }
}
