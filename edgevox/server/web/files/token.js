// The token: it comes in the fragment of the address, which no server sees, and leaves it at once.

const KEY = "edgevox-token";

// The token in the address, if there is one, else the one that was kept; "" where there is none.
export function takeToken() {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given === null) return sessionStorage.getItem(KEY) ?? localStorage.getItem(KEY) ?? "";
  history.replaceState(null, "", location.pathname);
  keepToken(given);
  return given;
}

// For this tab, and for the next time.
export function keepToken(token) {
  sessionStorage.setItem(KEY, token);
  localStorage.setItem(KEY, token);
}

export function forgetToken() {
  sessionStorage.removeItem(KEY);
  localStorage.removeItem(KEY);
}
