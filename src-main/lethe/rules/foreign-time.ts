import { type Timestamp, timestampSchema } from '../../../src-preload/contract/ids.ts';

/** A moment as a reference database stores it, in the forms of this store. */
export interface ForeignTime {
  /** Wire text: RFC 3339 UTC, nanoseconds kept, trailing zeros trimmed. */
  readonly wire: Timestamp;
  /** The same at a fixed width of 30 characters: its text order is the order of time. */
  readonly order: string;
}

const forms = [
  // What Go prints: a monotonic reading at the end says nothing about the moment.
  /^(?<day>\d{4}-\d\d-\d\d) (?<time>\d\d:\d\d:\d\d)(?:\.(?<fraction>\d{1,9}))? (?<sign>[+-])(?<hours>\d\d)(?<minutes>\d\d) \S{1,10}(?: m=[+-]\d{1,20}\.\d{1,9})?$/,
  /^(?<day>\d{4}-\d\d-\d\d)T(?<time>\d\d:\d\d:\d\d)(?:\.(?<fraction>\d{1,9}))?(?:Z|(?<sign>[+-])(?<hours>\d\d):(?<minutes>\d\d))$/,
  /^(?<day>\d{4}-\d\d-\d\d) (?<time>\d\d:\d\d:\d\d)(?:\.(?<fraction>\d{1,9}))?$/,
] as const;

/** Reads the three forms of `lethe.md` §2.11; undefined for anything else, and for a day or hour that there is not. */
export function parseForeignTime(text: string): ForeignTime | undefined {
  const groups = forms.map((form) => form.exec(text)?.groups).find((found) => found !== undefined);
  if (groups === undefined) return undefined;
  const { day = '', time = '', fraction = '', sign, hours = '0', minutes = '0' } = groups;
  const local = Date.parse(`${day}T${time}Z`);
  if (Number.isNaN(local) || new Date(local).toISOString().slice(0, 19) !== `${day}T${time}`) return undefined;
  if (Number(hours) > 23 || Number(minutes) > 59) return undefined;
  const offsetMs = (Number(hours) * 60 + Number(minutes)) * 60_000;
  const utc = new Date(sign === '-' ? local + offsetMs : local - offsetMs).toISOString();
  const seconds = utc.slice(0, 19);
  const trimmed = fraction.replace(/0+$/, '');
  const wire = timestampSchema.safeParse(trimmed === '' ? `${seconds}Z` : `${seconds}.${trimmed}Z`);
  if (!wire.success) return undefined;
  return { wire: wire.data, order: `${seconds}.${fraction.padEnd(9, '0')}Z` };
}
