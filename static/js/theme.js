// Applies the stored theme before the first paint; loaded as a plain script in the head for that reason.
(() => {
  const stored = () => {
    try {
      return localStorage.getItem("crew-theme");
    } catch {
      return null;
    }
  };
  const theme = stored();
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
})();
