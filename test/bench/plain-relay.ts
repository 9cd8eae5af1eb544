/** The ceiling of every figure of meetings: a bare `ws` relay that keeps all in memory and no rules, in a process of its own. */
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { type ServerOptions, WebSocket, WebSocketServer } from 'ws';

interface Message {
  readonly type: string;
  readonly roomId: string;
  readonly targetId?: string;
  readonly name?: string;
}

/** Everybody who joins is let in. */
export function servePlainRelay(options: ServerOptions): WebSocketServer {
  const rooms = new Map<string, Map<string, { readonly socket: WebSocket; readonly name: string }>>();
  const server = new WebSocketServer(options);
  let ids = 0;
  server.on('connection', (socket) => {
    let participantId = '';
    let ownName = '';
    let room: ReturnType<typeof rooms.get>;
    const tellOthers = (message: object) => {
      const text = JSON.stringify(message);
      for (const [id, each] of room ?? []) if (id !== participantId) each.socket.send(text);
    };
    const joined = (roomId: string, id: string, name: string) => ({
      type: 'participant-joined',
      roomId,
      participantId: id,
      timestamp: Date.now(),
      name,
      isModerator: true,
      isMuted: false,
      isVideoOff: false,
    });

    function join({ roomId, name = '' }: Message) {
      participantId = `p${ids++}`;
      ownName = name;
      room = rooms.get(roomId) ?? new Map();
      rooms.set(roomId, room);
      socket.send(JSON.stringify(joined(roomId, participantId, name)));
      for (const [id, each] of room) socket.send(JSON.stringify(joined(roomId, id, each.name)));
      room.set(participantId, { socket, name });
      tellOthers(joined(roomId, participantId, name));
    }

    function left() {
      room?.delete(participantId);
      tellOthers({ type: 'participant-left', participantId });
      room = undefined;
    }

    socket.on('message', (data) => {
      const said: Message = JSON.parse(String(data));
      const message = { ...said, participantId, timestamp: Date.now() };
      if (said.type === 'join') return join(said);
      if (said.type === 'leave') return left();
      if (said.targetId !== undefined) {
        const target = room?.get(said.targetId)?.socket;
        if (target?.readyState === WebSocket.OPEN) target.send(JSON.stringify(message));
        return;
      }
      if (said.type !== 'chat') return tellOthers(message);
      const chat = { ...message, name: ownName, messageId: `${message.timestamp}-${participantId}` };
      tellOthers(chat);
      socket.send(JSON.stringify(chat));
    });
    socket.on('close', left);
    socket.on('error', () => socket.terminate());
  });
  return server;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const server = servePlainRelay({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
  server.once('listening', () => process.send?.((server.address() as AddressInfo).port));
  process.on('disconnect', () => process.exit());
}
