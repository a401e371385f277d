// `npm run bench`: runs the workloads one after the other, each in a process of its own, prints the table and keeps it.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { corpusSizes, type Mode, type PlannedWorkload, workloads } from './lib/plan.ts';
import { type WorkloadResult, workloadResultSchema } from './lib/rows.ts';
import { toTable } from './lib/table.ts';

const usage = `npm run bench -- [--quick | --full] [--only W1,W3] [--name NAME]
  --quick  small sizes and short races, under two minutes
  --full   also a million memories, and 100 000 changesets to verify
  --only   only these workloads: ${workloads.map(({ name }) => name).join(', ')}
  --name   name of the file under bench/results (default: the moment)`;

interface Wanted {
  readonly mode: Mode;
  readonly chosen: readonly PlannedWorkload[];
  readonly name: string;
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** What the arguments ask for; undefined when they ask for nothing that there is. */
function readArguments(): Wanted | undefined {
  try {
    const { values } = parseArgs({
      options: {
        quick: { type: 'boolean', default: false },
        full: { type: 'boolean', default: false },
        only: { type: 'string' },
        name: { type: 'string', default: new Date().toISOString().replaceAll(':', '-').slice(0, 19) },
      },
    });
    const names = values.only?.toUpperCase().split(',');
    const chosen = workloads.filter(({ name }) => names === undefined || names.includes(name));
    const known = names === undefined || chosen.length === new Set(names).size;
    if (!known || (values.quick && values.full) || !/^[\w.-]+$/.test(values.name)) return undefined;
    return { mode: values.quick ? 'quick' : values.full ? 'full' : 'usual', chosen, name: values.name };
  } catch {
    return undefined;
  }
}

/** Runs one part in a process of its own; answers what it printed. */
function runPart(...args: readonly string[]): unknown {
  const done = spawnSync(process.execPath, [join(import.meta.dirname, 'part.ts'), ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 64 * 1_024 * 1_024,
  });
  if (done.status !== 0) throw new Error(`${args[0]} failed with ${done.status ?? done.signal}`);
  return JSON.parse(done.stdout);
}

function run({ mode, chosen, name }: Wanted): readonly WorkloadResult[] {
  const folder = mkdtempSync(join(tmpdir(), 'memory-git-bench-'));
  try {
    if (chosen.some(({ reads }) => reads)) {
      for (const [number, { memories }] of corpusSizes[mode].entries()) {
        say(`making a history of ${memories} memories …`);
        say(JSON.stringify(runPart('corpus', mode, folder, String(number))));
      }
    }
    const results = chosen.flatMap((workload) => {
      say(`${workload.name} …`);
      try {
        return [workloadResultSchema.parse(runPart(workload.name, mode, folder, '0'))];
      } catch (thrown) {
        say(`${workload.name} gave no result: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
        process.exitCode = 1;
        return [];
      } finally {
        rmSync(join(folder, workload.name), { recursive: true, force: true });
      }
    });
    keep(name, mode, results);
    return results;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function keep(name: string, mode: Mode, results: readonly WorkloadResult[]): void {
  const resultsFolder = join(import.meta.dirname, 'results');
  mkdirSync(resultsFolder, { recursive: true });
  const [cpu] = cpus();
  const machine = { cpu: cpu?.model ?? '', cores: cpus().length, node: process.versions.node };
  const file = join(resultsFolder, `${name}.json`);
  writeFileSync(file, `${JSON.stringify({ name, mode, machine, results }, undefined, 2)}\n`);
  say(`kept in ${file}`);
}

const wanted = readArguments();
if (wanted === undefined) {
  say(usage);
  process.exitCode = 2;
} else {
  say(`load of the machine over the last minute: ${(loadavg()[0] ?? 0).toFixed(1)} on ${cpus().length} cores`);
  process.stdout.write(`${toTable(run(wanted))}\n`);
}
