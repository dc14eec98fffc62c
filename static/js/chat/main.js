// Wires the chat page: keys and list on every chat page, the live conversation where there is one.
import { setUpStart } from "./composer.js";
import { startConversation } from "./conversation.js";
import { openHelp, setUpDialogs } from "./dialogs.js";
import { byId } from "./dom.js";
import { setUpKeys } from "./keys.js";
import { setUpList } from "./list.js";
import { setUpRowMenu } from "./rowmenu.js";

const list = setUpList();
setUpDialogs();
setUpRowMenu();
setUpStart();
const live = byId("chat").dataset.conversation ? startConversation() : {};
setUpKeys({
  ...live,
  search: () => list.search(),
  help: openHelp,
  fresh: () => location.assign("/chat/"),
  write: () => byId("composer-text")?.focus(),
});
