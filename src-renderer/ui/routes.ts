/** The moment at which memory is read: now, as of a changeset, or as of a time (RFC 3339, UTC). */
export type Moment =
  | { readonly kind: 'now' }
  | { readonly kind: 'changeset'; readonly id: string }
  | { readonly kind: 'time'; readonly at: string };

/** A place in the desk. Every one has an address, so that back, forward, reload and a link work. */
export type Route =
  | { readonly screen: 'inbox'; readonly proposalId?: string | undefined }
  | { readonly screen: 'memory'; readonly memoryId?: string | undefined; readonly moment: Moment }
  | { readonly screen: 'history'; readonly changesetId?: string | undefined }
  | { readonly screen: 'compare'; readonly base: string; readonly target: string }
  | { readonly screen: 'branches' }
  | { readonly screen: 'conflicts' }
  | { readonly screen: 'ledger'; readonly agentId?: string | undefined; readonly keyName?: string | undefined }
  | { readonly screen: 'agents'; readonly principalId?: string | undefined }
  | { readonly screen: 'backups'; readonly name?: string | undefined }
  | { readonly screen: 'audit' }
  | { readonly screen: 'settings' };

/** Reads the address after `#`. What is not an address of the desk is the inbox. */
export function parseRoute(hash: string): Route {
  const [path = '', search = ''] = hash.replace(/^#/, '').split('?', 2);
  const [screen, first, second] = path.split('/').filter(Boolean).map(decode);
  if (screen === 'memory') return { screen, memoryId: first, moment: momentOf(new URLSearchParams(search)) };
  if (screen === 'history') return { screen, changesetId: first };
  if (screen === 'compare' && first !== undefined && second !== undefined)
    return { screen, base: first, target: second };
  if (screen === 'branches' || screen === 'conflicts' || screen === 'audit' || screen === 'settings') return { screen };
  if (screen === 'ledger') return { screen, agentId: first, keyName: first === undefined ? undefined : second };
  if (screen === 'backups') return { screen, name: first };
  if (screen === 'agents') return { screen, principalId: first };
  return { screen: 'inbox', proposalId: screen === 'inbox' ? first : undefined };
}

/** The address of a place, with its `#`. `parseRoute` of it gives the place back. */
export function formatRoute(route: Route): string {
  switch (route.screen) {
    case 'inbox':
      return address('inbox', route.proposalId);
    case 'memory':
      return address('memory', route.memoryId) + momentQuery(route.moment);
    case 'history':
      return address('history', route.changesetId);
    case 'compare':
      return address('compare', route.base, route.target);
    case 'branches':
    case 'conflicts':
    case 'audit':
    case 'settings':
      return address(route.screen);
    case 'ledger':
      return address('ledger', route.agentId, route.agentId === undefined ? undefined : route.keyName);
    case 'backups':
      return address('backups', route.name);
    case 'agents':
      return address('agents', route.principalId);
  }
}

function address(screen: string, ...parts: readonly (string | undefined)[]): string {
  const given = parts.filter((part) => part !== undefined).map(encodeURIComponent);
  return `#/${[screen, ...given].join('/')}`;
}

function momentOf(search: URLSearchParams): Moment {
  const id = search.get('head');
  if (id !== null) return { kind: 'changeset', id };
  const at = search.get('at');
  return at === null ? { kind: 'now' } : { kind: 'time', at };
}

function momentQuery(moment: Moment): string {
  if (moment.kind === 'changeset') return `?head=${encodeURIComponent(moment.id)}`;
  return moment.kind === 'time' ? `?at=${encodeURIComponent(moment.at)}` : '';
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
