/** An SMTP server as a process of its own: refuses as many mails as it is told to, or whom it is told, and tells of those it takes. */
import { SMTPServer } from 'smtp-server';

let refusals = Number(process.argv[2] ?? 0);
let code = 451;
/** Whom it does not know. */
const STRANGER = 'stranger@';

const refused = (to: readonly string[], responseCode: number) => {
  process.send?.({ refused: to });
  return Object.assign(new Error('not taken'), { responseCode });
};

const server = new SMTPServer({
  authOptional: true,
  onRcptTo: ({ address }, _, callback) => callback(address.startsWith(STRANGER) ? refused([address], 550) : undefined),
  onData(stream, session, callback) {
    const pieces: Buffer[] = [];
    stream.on('data', (piece: Buffer) => pieces.push(piece));
    stream.on('end', () => {
      const to = session.envelope.rcptTo.map(({ address }) => address);
      if (refusals-- > 0) return callback(refused(to, code));
      process.send?.({ to, raw: Buffer.concat(pieces).toString('utf8') });
      callback();
    });
  },
});

process.on('message', (message: { readonly refuse: number; readonly code: number }) => {
  ({ refuse: refusals, code } = message);
  process.send?.({ noted: true });
});
process.on('disconnect', () => process.exit());
server.listen(0, '127.0.0.1', () => {
  const address = server.server.address();
  process.send?.({ port: typeof address === 'object' ? address?.port : 0 });
});
