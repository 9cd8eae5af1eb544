/** The chat's page with two nodes behind a proxy that sends each request to the next one. */
import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { useChat } from '../support/chat-scenario.js';
import { button, expectText, inWorkspace, openSection, useChatPages } from './chat-page.js';

describe('chat page on two nodes', function () {
  this.timeout(120_000);
  const chat = useChat(2);
  const { open } = useChatPages();
  let proxy: Server;

  before(async () => {
    let turn = 0;
    proxy = createServer((incoming, outgoing) => {
      const { method, url = '/', headers } = incoming;
      const next = request(new URL(url, chat.bases[turn++ % 2]), { method, headers }, (response) => {
        outgoing.writeHead(response.statusCode ?? 502, response.headers);
        response.pipe(outgoing);
      });
      next.on('error', () => outgoing.destroy());
      outgoing.on('close', () => next.destroy());
      incoming.pipe(next);
    }).listen(0, '127.0.0.1');
    await once(proxy, 'listening');
  });
  after(() => {
    proxy?.close();
    proxy?.closeAllConnections();
  });

  it('shows what was just written, whichever node answers', async () => {
    const page = await open(`http://127.0.0.1:${(proxy.address() as AddressInfo).port}`);
    await page.getByLabel('Email').fill('admin@example.org');
    await button(page, 'Sign in').click();
    await inWorkspace(page);
    await openSection(page, 'admin/members');
    for (const name of ['ada', 'bob', 'cyd', 'dan']) {
      await button(page, 'Add a member').click();
      await page.getByLabel('Email').fill(`${name}@example.org`);
      await button(page, 'Add').click();
      await button(page, `Actions for ${name}`).waitFor();
    }
    await openSection(page, 'admin/webhooks');
    await button(page, 'Create a webhook').click();
    await page.getByLabel('Name', { exact: true }).fill('Build server');
    await button(page, 'Create').click();
    await expectText(page, 'Build server is ready');
    await button(page, 'Done').click();
    await button(page, 'Remove Build server').waitFor();
  });
});
