import {
  type BridgeAnswer,
  type BridgeEventName,
  type BridgeEvents,
  eventChannel,
  requestChannel,
} from '../../../src-preload/contract/bridge.ts';
import { type FaultCode, type FaultWire, faultKindByCode } from '../../../src-preload/contract/faults.ts';
import { jsonDepthMax, requestBytesMax } from '../../../src-preload/contract/limits.ts';
import type { DeskContents, DeskIpc, DeskMessage } from './electron-api.ts';

/** The one origin whose page may ask: the app's own. */
export const deskOrigin = 'app://desk';

const commandName = /^[a-z][a-z_]{0,63}\.[a-z][a-z_]{0,63}$/;

export interface IpcOptions {
  readonly ipcMain: DeskIpc;
  /** The contents of the desk's window at this moment; undefined while there is none. */
  readonly desk: () => DeskContents | undefined;
  readonly request: (name: string, input: unknown) => Promise<BridgeAnswer>;
  /** The page has begun to listen to an event that can have happened before. */
  readonly onListening: (event: 'state' | 'open', desk: DeskContents) => void;
}

/**
 * Opens the window's door. A message counts only when it comes from the page of the desk's own window, at the app's own
 * origin, and only as one command name and one JSON value within the limits that hold at every door.
 */
export function serveIpc(options: IpcOptions): void {
  options.ipcMain.handle(requestChannel, async (event, ...args): Promise<BridgeAnswer> => {
    if (!isFromDesk(event, options.desk())) return refuse('ORIGIN_REFUSED', 'Only the desk’s own page may ask.');
    const [name, input] = args;
    if (args.length !== 2 || typeof name !== 'string' || !commandName.test(name)) {
      return refuse('COMMAND_UNKNOWN', 'A request is the name of a command and its input.');
    }
    const problem = findPayloadProblem(input);
    return problem === undefined ? options.request(name, input) : { ok: false, fault: problem };
  });
  for (const name of ['state', 'open'] as const) {
    options.ipcMain.on(eventChannel(name), (event) => {
      const desk = options.desk();
      if (desk !== undefined && isFromDesk(event, desk)) options.onListening(name, desk);
    });
  }
}

/** Sends an event to the page. */
export function publish<Name extends BridgeEventName>(
  desk: DeskContents,
  event: Name,
  payload: BridgeEvents[Name],
): void {
  desk.send(eventChannel(event), payload);
}

/** Whether a message comes from the page of that window: not from a frame in it, nor from another place. */
export function isFromDesk(event: DeskMessage, desk: DeskContents | undefined): boolean {
  const frame = event.senderFrame;
  return (
    desk !== undefined &&
    event.sender === desk &&
    frame !== null &&
    frame.parent === null &&
    frame.origin === deskOrigin
  );
}

/** What is wrong with an input: it is no JSON, too deep, or too large. The schema of the command judges the rest. */
function findPayloadProblem(input: unknown): FaultWire | undefined {
  const shape = shapeOf(input, 0);
  if (shape === 'deep') return refuse('BODY_TOO_DEEP', `The input is nested deeper than ${jsonDepthMax} levels.`).fault;
  if (shape === 'foreign') return refuse('BODY_INVALID', 'The input is not a JSON value.').fault;
  const bytes = new TextEncoder().encode(JSON.stringify(input)).length;
  if (bytes > requestBytesMax)
    return refuse('BODY_TOO_LARGE', `The input has ${bytes} bytes; ${requestBytesMax} are allowed.`).fault;
  return undefined;
}

/** Whether a structured-clone value is a JSON value. An absent field (`undefined`) is left out as JSON leaves it out. */
function shapeOf(value: unknown, depth: number): 'json' | 'deep' | 'foreign' {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return 'json';
  if (typeof value === 'number') return Number.isFinite(value) ? 'json' : 'foreign';
  if (typeof value !== 'object') return 'foreign';
  if (depth >= jsonDepthMax) return 'deep';
  const isPlain = Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
  if (!isPlain) return 'foreign';
  for (const child of Object.values(value)) {
    if (child === undefined && !Array.isArray(value)) continue;
    const shape = shapeOf(child, depth + 1);
    if (shape !== 'json') return shape;
  }
  return 'json';
}

function refuse(code: FaultCode, message: string): { readonly ok: false; readonly fault: FaultWire } {
  return { ok: false, fault: { code, kind: faultKindByCode[code], message, data: {} } };
}
