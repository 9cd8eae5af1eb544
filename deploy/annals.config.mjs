/** Settings of both nodes of compose.yaml; docs/settings.md lists all. Secrets are files. */
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';

const secret = (name) => readFileSync(`/run/secrets/${name}`, 'utf8').trim();
const site = (name) => `https://${name}.${process.env.DOMAIN}`;

export default {
  dataDir: '/data',
  host: '0.0.0.0',
  secret: secret('secret'),
  eventStore: {
    url: `esdb://admin:${secret('eventstore_password')}@eventstore1:2113,eventstore2:2113,eventstore3:2113?tls=true&tlsCAFile=/authority/ca.crt`,
  },
  mongo: {
    url: `mongodb://annals:${secret('mongo_password')}@mongo1,mongo2,mongo3/?replicaSet=annals&authSource=admin`,
  },
  mesh: { host: '0.0.0.0', address: hostname() },
  operations: { token: secret('operations_token') },
  server: { trustedProxies: ['172.30.240.2'] },
  log: { format: 'json' },

  auth: { authMode: 'password', jwtSecret: secret('jwt_secret'), appUrl: site('chat') },
  chat: {
    initialUser: { email: `admin@${process.env.DOMAIN}`, password: secret('admin_password') },
  },
  meeting: { appUrl: site('meeting') },
  analytics: { appUrl: site('analytics'), adminToken: secret('analytics_token') },
  logs: { appUrl: site('logs'), apiToken: secret('logs_token') },
  rooms: { appUrl: site('rooms') },
};
