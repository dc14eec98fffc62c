// Swagger UI keeps its dark colours under a class of the root; it has it when the site is dark.
{
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const follow = () => root.classList.toggle("dark-mode", (root.dataset.theme ?? (system.matches ? "dark" : "light")) === "dark");
  new MutationObserver(follow).observe(root, { attributeFilter: ["data-theme"] });
  system.addEventListener("change", follow);
  follow();
}
