/** Only text and a refresh: no script, no style, no form, no frame. */
export const pagePolicy = "default-src 'none'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'";

/** A page that says something in plain text; `refreshSeconds` asks again for the same page. Everything is escaped. */
export function oauthPage(title: string, lines: readonly string[], refreshSeconds?: number): string {
  const refresh = refreshSeconds === undefined ? '' : `<meta http-equiv="refresh" content="${refreshSeconds}">`;
  const body = lines.map((line) => `<p>${escapeHtml(line)}</p>`).join('\n');
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8">${refresh}<meta name="viewport" content="width=device-width"><title>${escapeHtml(title)}</title></head>
<body><main><h1>${escapeHtml(title)}</h1>
${body}
</main></body></html>
`;
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}
