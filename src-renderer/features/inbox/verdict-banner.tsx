import { CircleCheckBig, CircleDashed, CircleSlash, GitMerge, type LucideIcon, OctagonAlert } from 'lucide-react';
import type { VerdictLine } from './decide.ts';

const icons: Readonly<Record<VerdictLine['tone'], LucideIcon>> = {
  clean: CircleCheckBig,
  wait: CircleDashed,
  blocked: OctagonAlert,
  done: GitMerge,
  closed: CircleSlash,
};

/** The first line of a review, read aloud when it changes. */
export function VerdictBanner({ line }: { readonly line: VerdictLine }) {
  const Icon = icons[line.tone];
  return (
    <div className="mg-verdict" data-tone={line.tone} role="status" aria-label="Verdict">
      <Icon size={18} aria-hidden />
      <h2>{line.text}</h2>
    </div>
  );
}
