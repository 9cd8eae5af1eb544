/** Upper bound for meeting figures: a bare in-memory `ws` relay without rules, in a process of its own. */
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { type ServerOptions, WebSocket, WebSocketServer } from 'ws';

interface Message {
  readonly type: string;
  readonly roomId: string;
  readonly targetId?: string;
  readonly name?: string;
}

/** Admits everybody who joins. */
export function servePlainRelay(options: ServerOptions): WebSocketServer {
  const rooms = new Map<string, Map<string, { readonly socket: WebSocket; readonly name: string }>>();
  const server = new WebSocketServer(options);
  let ids = 0;
  server.on('connection', (socket) => {
    let participantId = '';
    let ownName = '';
    let room: ReturnType<typeof rooms.get>;
    const sendToOthers = (message: object) => {
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
      sendToOthers(joined(roomId, participantId, name));
    }

    function leave() {
      room?.delete(participantId);
      sendToOthers({ type: 'participant-left', participantId });
      room = undefined;
    }

    socket.on('message', (data) => {
      const input: Message = JSON.parse(String(data));
      const message = { ...input, participantId, timestamp: Date.now() };
      if (input.type === 'join') return join(input);
      if (input.type === 'leave') return leave();
      if (input.targetId !== undefined) {
        const target = room?.get(input.targetId)?.socket;
        if (target?.readyState === WebSocket.OPEN) target.send(JSON.stringify(message));
        return;
      }
      if (input.type !== 'chat') return sendToOthers(message);
      const chat = { ...message, name: ownName, messageId: `${message.timestamp}-${participantId}` };
      sendToOthers(chat);
      socket.send(JSON.stringify(chat));
    });
    socket.on('close', leave);
    socket.on('error', () => socket.terminate());
  });
  return server;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const server = servePlainRelay({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
  server.once('listening', () => process.send?.((server.address() as AddressInfo).port));
  process.on('disconnect', () => process.exit());
}
