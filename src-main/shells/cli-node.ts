/** The oldest Node that the database driver runs on. */
const oldest = { major: 22, minor: 12 } as const;

/**
 * One clear line when the running Node is too old, else undefined. Looked at before anything else is loaded, since the
 * driver would bring the process down.
 */
export function nodeProblem(version: string): string | undefined {
  const [major, minor] = version.replace(/^v/, '').split('.').map(Number);
  if (major === undefined || minor === undefined || Number.isNaN(major) || Number.isNaN(minor)) return undefined;
  if (major > oldest.major || (major === oldest.major && minor >= oldest.minor)) return undefined;
  return `Node ${version} is too old: Memory Git needs Node ${oldest.major}.${oldest.minor} or later.`;
}

/** Runs a command line, loading it only under a Node that can bear it. `load` gives its main function. */
export async function runUnderNode(load: () => Promise<(args: readonly string[]) => Promise<number>>): Promise<void> {
  const problem = nodeProblem(process.versions.node);
  if (problem !== undefined) {
    process.stderr.write(`${problem}\n`);
    process.exitCode = 3;
    return;
  }
  // A reader that has seen enough (`| head`) is no failure of ours.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
  const main = await load();
  process.exitCode = await main(process.argv.slice(2));
}
