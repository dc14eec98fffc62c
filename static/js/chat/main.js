// Wires the chat page: keys and list on every chat page, the live conversation where there is one.
import { setUpStart } from "./composer.js";
import { startConversation } from "./conversation.js";
import { openHelp, setUpDialogs } from "./dialogs.js";
import { byId } from "./dom.js";
import { setUpKeys } from "./keys.js";
import { setUpList } from "./list.js";

const list = setUpList();
setUpDialogs();
setUpStart();
const live = byId("chat").dataset.conversation ? startConversation() : null;
setUpKeys({ search: () => list.search(), help: openHelp, stop: () => live?.stop() });
