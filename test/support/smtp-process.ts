/** An SMTP server as a process of its own: refuses as many mails as it is told to, and tells of those it takes. */
import { SMTPServer } from 'smtp-server';

let refusals = Number(process.argv[2] ?? 0);

const server = new SMTPServer({
  authOptional: true,
  onData(stream, session, callback) {
    const pieces: Buffer[] = [];
    stream.on('data', (piece: Buffer) => pieces.push(piece));
    stream.on('end', () => {
      const to = session.envelope.rcptTo.map(({ address }) => address);
      if (refusals-- > 0) {
        process.send?.({ refused: to });
        return callback(Object.assign(new Error('not now'), { responseCode: 451 }));
      }
      process.send?.({ to, raw: Buffer.concat(pieces).toString('utf8') });
      callback();
    });
  },
});

process.on('message', (message: { readonly refuse: number }) => {
  refusals = message.refuse;
  process.send?.({ noted: true });
});
process.on('disconnect', () => process.exit());
server.listen(0, '127.0.0.1', () => {
  const address = server.server.address();
  process.send?.({ port: typeof address === 'object' ? address?.port : 0 });
});
