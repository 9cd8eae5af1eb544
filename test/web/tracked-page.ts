/** Pages that have the tracker's tag, with what can be clicked on them: `?tag=` are the attributes of the tag. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';

const BUTTONS = `
  <button data-annals-event="Sign up" data-annals-prop-plan="pro" data-annals-prop-secret="x"><b>Sign up</b></button>
  <a href="/next" data-annals-event="Leave">Leave</a>
  <button id="silent" data-annals-event="Stopped" onclick="event.stopPropagation()">Stopped</button>
  <button id="plain">Plain</button>`;

/** Resolves when it listens on a free port of this machine. */
export async function serveTagged(script: () => string): Promise<Server> {
  const server = createServer((request, response) => {
    const { searchParams, pathname } = new URL(request.url ?? '/', 'http://page');
    const tag = `<script defer src="${script()}" ${searchParams.get('tag') ?? ''}></script>`;
    response.writeHead(200, { 'content-type': 'text/html' });
    response.end(pathname === '/next' ? '<h1>Next</h1>' : `<!doctype html>${tag}${BUTTONS}`);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}
