// Applies the stored theme before the first paint; loaded as a plain script in the head for that reason. The
// choice is kept where and how the admin's own theme keeps it, so that one choice serves both.
(() => {
  let theme = null;
  try {
    theme = JSON.parse(localStorage.getItem("adminTheme"));
  } catch {
    // Storage may be off: then the system decides.
  }
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
})();
