/** Which addresses may be called: every notation of dangerous ones is recognised. */
import { expect } from 'chai';
import { reachOf, TargetRefused, type TargetRules, targetOf } from '../../../../adapters/outbound/webhook/target.js';

const verdict = (address: string) => {
  const reach = reachOf(address);
  return typeof reach === 'object' ? 'forbidden' : reach;
};

describe('the scope of an address', () => {
  const cases: { readonly [reach: string]: readonly string[] } = {
    public: ['8.8.8.8', '1.1.1.1', '2606:4700::1111', '::ffff:8.8.8.8', '64:ff9b::808:808'],
    private: [
      '127.0.0.1',
      '127.255.255.254',
      '10.1.2.3',
      '172.16.0.1',
      '172.31.255.255',
      '192.168.1.1',
      '100.64.0.1',
      '::1',
      '::0.0.0.1',
      '::127.0.0.1',
      '::7f00:1',
      '::8.8.8.8',
      '0:0:0:0:0:0:8.8.8.8',
      '::808:808',
      'fd12:3456::1',
      '::ffff:10.0.0.1',
      '::ffff:7f00:1',
      '64:ff9b::7f00:1',
      '0x7f.1',
      '2130706433',
      '0177.0.0.1',
    ],
    forbidden: [
      '0.0.0.0',
      '0.1.2.3',
      '169.254.0.1',
      '169.254.169.254',
      '::ffff:169.254.169.254',
      '::ffff:a9fe:a9fe',
      '64:ff9b::a9fe:a9fe',
      '0xa9fea9fe',
      '100.100.100.200',
      '168.63.129.16',
      '192.0.0.192',
      '198.18.0.1',
      '192.0.2.1',
      '224.0.0.1',
      '240.0.0.1',
      '255.255.255.255',
      '::',
      '::0.0.0.0',
      '2002:808:808::',
      'fe80::1',
      'fe80::1%eth0',
      'fec0::1',
      'ff02::1',
      'fd00:ec2::254',
      '2002:7f00:1::',
      '2001:0:7f00:1::',
      '::ffff:0:127.0.0.1',
      '2001:db8::1',
      '64:ff9b:1::7f00:1',
      'localhost',
      '',
      '1.2.3.4.5',
    ],
  };
  for (const [reach, addresses] of Object.entries(cases)) {
    it(`is ${reach} for each listed notation`, () => {
      for (const address of addresses) expect(`${address} ${verdict(address)}`).to.equal(`${address} ${reach}`);
    });
  }
});

describe('a webhook target', () => {
  const resolving = (...addresses: string[]): TargetRules => ({
    allowPrivate: false,
    resolve: async () => addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
  });
  const literally: TargetRules = {
    allowPrivate: false,
    resolve: async (name) => [{ address: name, family: 4 }],
  };
  const refusal = (url: string, rules = resolving('8.8.8.8')) =>
    targetOf(url, rules).then(
      () => 'fine',
      (error) => (error instanceof TargetRefused ? error.message : `failed: ${error}`),
    );

  it('is every address its name resolves to', async () => {
    const { addresses } = await targetOf('https://hooks.example.com/x', resolving('8.8.8.8', '2606:4700::1'));
    expect(addresses).to.have.length(2);
  });

  it('is refused if any of its addresses is', async () => {
    const url = 'https://hooks.example.com/x';
    expect(await refusal(url, resolving('8.8.8.8', '169.254.169.254'))).to.match(/link-local/);
    expect(await refusal(url, resolving('8.8.8.8', '10.0.0.1'))).to.match(/private/);
    expect(await refusal(url, resolving())).to.match(/failed/);
  });

  it('is refused for loopback in every URL notation', async () => {
    for (const host of [
      '127.0.0.1',
      '127.1',
      '127.0.0.1.',
      '2130706433',
      '0x7f000001',
      '0x7F.0.0.1',
      '0177.0.0.01',
      '%31%32%37.0.0.1',
      '①②⑦.0.0.1',
      '１２７．０．０．１',
      '[::1]',
      '[::127.0.0.1]',
      '[::8.8.8.8]',
      '[::ffff:127.0.0.1]',
      '[::ffff:7f00:1]',
      '[0:0:0:0:0:ffff:7f00:0001]',
      '[64:ff9b::127.0.0.1]',
    ])
      expect(`${host} ${await refusal(`http://${host}/`, literally)}`).to.equal(
        `${host} it leads to a private address`,
      );
  });

  it('is refused for other schemes, credentials and invalid URLs', async () => {
    expect(await refusal('ftp://example.com/')).to.match(/neither http nor https/);
    expect(await refusal('file:///etc/passwd')).to.match(/neither/);
    expect(await refusal('https://user:word@example.com/')).to.match(/credentials/);
    expect(await refusal('https://user@example.com/')).to.match(/credentials/);
    for (const url of ['https://...', 'https://.example.com/', 'https://a..b/'])
      expect(await refusal(url), url).to.match(/names no host/);
    for (const url of ['', 'example.com', 'http://', 'http://[fe80::1%25eth0]/', 'http://1.2.3.4.5.6.0x/'])
      expect(await refusal(url), url).to.match(/no valid URL|neither/);
  });

  it('may be private where allowed, but never a metadata service', async () => {
    const rules = (address: string) => ({ ...resolving(address), allowPrivate: true });
    expect(await refusal('http://intra/', rules('10.0.0.1'))).to.equal('fine');
    expect(await refusal('http://intra/', rules('127.0.0.1'))).to.equal('fine');
    expect(await refusal('http://intra/', rules('100.100.100.200'))).to.match(/metadata/);
    expect(await refusal('http://intra/', rules('fd00:ec2::254'))).to.match(/metadata/);
    expect(await refusal('http://intra/', rules('0.0.0.0'))).to.match(/unspecified/);
  });
});
