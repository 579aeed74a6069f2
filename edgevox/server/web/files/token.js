// The token comes in the URL fragment, which no server sees, and is removed from it at once.

const KEY = "edgevox-token";

// The token from the URL, else the stored one, else "".
export function takeToken() {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given === null) return sessionStorage.getItem(KEY) ?? localStorage.getItem(KEY) ?? "";
  history.replaceState(null, "", location.pathname);
  keepToken(given);
  return given;
}

// Stores the token for this tab and for later visits.
export function keepToken(token) {
  sessionStorage.setItem(KEY, token);
  localStorage.setItem(KEY, token);
}

export function forgetToken() {
  sessionStorage.removeItem(KEY);
  localStorage.removeItem(KEY);
}
