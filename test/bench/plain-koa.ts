/** Upper bound for HTTP figures: koa that only parses a JSON body, in a process of its own. */
import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import { koaBody } from 'koa-body';

const app = new Koa();
app.use(koaBody());
app.use((ctx) => {
  ctx.status = 201;
  ctx.body = { message: (ctx.request as { body?: unknown }).body };
});
const server = app.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
process.on('disconnect', () => process.exit());
