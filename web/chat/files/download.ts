/** Saves files that need the session's token. */
import type { Http } from '../../shared/api/http.js';

/** Time after which the browser has surely taken over the file. */
const REVOKE_AFTER_MS = 60_000;

export async function downloadFile(http: Http, path: string, name: string): Promise<void> {
  const response = await http.send('GET', path);
  saveAs(URL.createObjectURL(await response.blob()), name);
}

/** Saves the content of an object URL, and revokes it. */
export function saveAs(url: string, name: string): void {
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), REVOKE_AFTER_MS);
}
