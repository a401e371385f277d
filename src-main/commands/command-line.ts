import type { CommandContract } from '../../src-preload/contract/command.ts';
import { escapeInvisible } from '../text/visible.ts';
import { shownInput, shownJson } from './digest.ts';

/** A word of the line: itself, the value of a key, a flag with the value of a key that may be left out, or what a value is typed as. */
type Part =
  | string
  | { readonly arg: string }
  | { readonly flag: string; readonly key: string }
  | { readonly key: string; readonly words: Readonly<Record<string, string>> };

const arg = (key: string): Part => ({ arg: key });
const flag = (name: string, key: string): Part => ({ flag: name, key });
const either = (key: string, whenTrue: string, whenFalse: string): Part => ({
  key,
  words: { true: whenTrue, false: whenFalse },
});

/** How the commands that have a verb are typed, by their names. */
const lines: Readonly<Record<string, readonly Part[]>> = {
  'memory.merge_review': [
    ...['charon proposal review', arg('proposal_id'), arg('verdict')],
    ...[flag('--digest', 'proposal_digest'), flag('--target-head', 'target_head'), flag('--comment', 'comment')],
  ],
  'memory.merge': ['charon proposal merge', arg('proposal_id'), flag('--key', 'idempotency_key')],
  'principal.reconcile': [
    ...['charon principal reconcile', arg('name'), arg('profile'), arg('project')],
    flag('--actor-id', 'actor_id'),
  ],
  'principal.set_enabled': ['charon principal', either('enabled', 'enable', 'disable'), arg('principal_id')],
  'obol.mint': ['charon obol mint', arg('principal_id'), { flag: '--expires', key: 'expires_ms' }],
  'obol.revoke': ['charon obol revoke', arg('obol_id')],
  'oauth.set_enabled': ['charon oauth', either('enabled', 'on', 'off')],
  'oauth.approve': ['charon oauth approve', arg('request_id'), arg('principal_id')],
  'oauth.revoke': ['charon oauth revoke', arg('grant_id')],
  'custody.open': ['charon custody open', arg('agent')],
  'custody.close': ['charon custody close', arg('agent')],
  'registration.approve': ['charon registration approve', arg('registration_id')],
  'registration.set_open': ['charon registration', either('open', 'open', 'ask')],
  'ltx.mint': ['charon ltx mint', arg('agent'), flag('--kind', 'kind')],
  'ltx.revoke': ['charon ltx revoke', arg('key_id')],
  'passport.revoke': ['charon passport revoke', arg('agent')],
  'key.rotate': [
    ...['charon keys rotate', arg('key')],
    { key: 'drop_earlier', words: { true: '--drop-earlier', false: '' } },
    '--yes',
  ],
  'store.import': ['lethe import', arg('file'), '--yes'],
  'owner.set_confirmation': ['charon owner confirm', arg('owner_confirm')],
  'owner_page.open': ['charon owner page'],
};

/** Keys of an input that are not typed: the file says the digest itself, a passphrase is asked for. */
const untyped: Readonly<Record<string, readonly string[]>> = {
  'store.import': ['content_digest'],
  'owner.set_confirmation': ['passphrase'],
};

/**
 * The command line that a command with that input equals, on one line, everything in it visible. Where there is no verb, or
 * the input has a key that no verb takes: the command's name and its input as JSON.
 */
export function commandLineOf(contract: Pick<CommandContract, 'name' | 'secrets'>, input: unknown): string {
  const { name } = contract;
  const parts = Object.hasOwn(lines, name) ? lines[name] : undefined;
  const typed = parts === undefined ? undefined : typedLine(parts, shownInput(contract, input), untyped[name] ?? []);
  return escapeInvisible(typed ?? `${name} ${quoted(shownJson(contract, input))}`);
}

function typedLine(
  parts: readonly Part[],
  input: Readonly<Record<string, unknown>>,
  known: readonly string[],
): string | undefined {
  const left = new Map(Object.entries(input).filter(([, value]) => value !== undefined));
  for (const key of known) left.delete(key);
  const words: string[] = [];
  for (const part of parts) {
    const word = wordsOf(part, left);
    if (word === undefined) return undefined;
    if (word !== '') words.push(word);
  }
  return left.size === 0 ? words.join(' ') : undefined;
}

/** Takes the key of a part out of what is left of the input; undefined when its value cannot be typed. */
function wordsOf(part: Part, left: Map<string, unknown>): string | undefined {
  if (typeof part === 'string') return part;
  const key = 'arg' in part ? part.arg : part.key;
  const value = left.get(key);
  left.delete(key);
  if ('words' in part) return value === undefined ? '' : part.words[String(value)];
  if (value === undefined) return 'flag' in part ? '' : undefined;
  const text = typedValue(key, value);
  if (text === undefined) return undefined;
  return 'flag' in part ? `${part.flag} ${quoted(text)}` : quoted(text);
}

const hourMs = 3_600_000;

function typedValue(key: string, value: unknown): string | undefined {
  if (key !== 'expires_ms') return typeof value === 'string' ? value : undefined;
  if (value === null) return 'never';
  if (typeof value !== 'number' || value % hourMs !== 0) return undefined;
  return value % (24 * hourMs) === 0 ? `${value / (24 * hourMs)}d` : `${value / hourMs}h`;
}

/** A word as a shell reads it: in single quotes unless it is plain. */
function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
