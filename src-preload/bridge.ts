import { contextBridge, ipcRenderer } from 'electron';
import {
  type BridgeEventName,
  bridgeEvents,
  eventChannel,
  type MemoryGitBridge,
  requestChannel,
} from './contract/bridge.ts';

/** The window's only way out. The page never sees ipcRenderer, nor an event object that would lead to it. */
const bridge: MemoryGitBridge = {
  request: (name, input) => ipcRenderer.invoke(requestChannel, name, input),
  subscribe: (event, listener) => {
    if (!isBridgeEvent(event))
      throw new TypeError(`there is no event of that name; there are: ${bridgeEvents.join(', ')}`);
    const channel = eventChannel(event);
    const forward = (_: unknown, payload: Parameters<typeof listener>[0]): void => listener(payload);
    ipcRenderer.on(channel, forward);
    // Main answers a subscription with what the page missed before it listened: the state, a place to go to.
    if (event !== 'engine') ipcRenderer.send(channel);
    return () => {
      ipcRenderer.off(channel, forward);
    };
  },
};

function isBridgeEvent(name: string): name is BridgeEventName {
  return bridgeEvents.some((event) => event === name);
}

contextBridge.exposeInMainWorld('memoryGit', bridge);
