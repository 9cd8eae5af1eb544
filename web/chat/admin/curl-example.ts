/** An example of posting as a webhook. */

/** A command that posts a message, for a POSIX shell. */
export function curlExample(address: string, token: string, content: string): string {
  return [
    `curl -X POST '${address}'`,
    `-H 'Authorization: Bearer ${token}'`,
    "-H 'Content-Type: application/json'",
    `-d '${JSON.stringify({ content }).replaceAll("'", "'\\''")}'`,
  ].join(' \\\n  ');
}
