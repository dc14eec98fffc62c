// The page Models: a test goes without leaving the page, and says there what came of it.
document.addEventListener("submit", async (event) => {
  const form = event.target.closest("form[data-test]");
  if (!form) return;
  event.preventDefault();
  const button = form.querySelector("button");
  if (button.getAttribute("aria-disabled")) return;
  button.setAttribute("aria-disabled", "true"); // a disabled one would lose the keyboard
  const told = document.getElementById(form.dataset.test);
  const tell = (text, ok = "") => {
    told.hidden = false;
    told.dataset.ok = ok;
    told.textContent = text;
  };
  tell("Asking for a word…");
  try {
    const answer = await fetch(form.action, {
      method: "POST",
      body: new FormData(form),
      headers: { "X-Fragment": "1" },
      credentials: "same-origin",
    });
    const body = await answer.json();
    tell(body.message ?? body.detail ?? "That did not work. Reload the page to see why.", body.ok ? "yes" : "no");
  } catch {
    tell("That did not work. Reload the page to see why.", "no");
  }
  button.removeAttribute("aria-disabled");
});
