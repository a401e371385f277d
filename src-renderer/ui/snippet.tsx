import { CopyButton } from './copy-button.tsx';

/** Text to take elsewhere, whole, with its copy button. */
export function Snippet({ label, text }: { readonly label: string; readonly text: string }) {
  return (
    <figure className="mg-snippet" aria-label={label}>
      <div className="mg-snippet-head">
        <span>{label}</span>
        <CopyButton
          label="Copy"
          spoken={`Copy ${label.toLowerCase()}`}
          text={text}
          size="compact-xs"
          variant="subtle"
        />
      </div>
      <pre>{text}</pre>
    </figure>
  );
}
