/**
 * Runbooks about members: every line is typed verbatim, each at its machine, and the output is compared with the page.
 * Nodes speak TLS with each other. [deploy/runbooks]
 *
 * Addresses of 10.0.0.0/24 become those of the loopback network, so that each machine keeps one of its own.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { parse, stringify } from 'yaml'
import {
  type Authority,
  type KeyPair,
  newAuthority,
  newNodePair,
  readAuthority,
} from '../../src/cli/certificates/authority.ts'
import { pairFiles, readPair, writePair } from '../../src/cli/certificates/certificate-files.ts'
import { MANY_ADMIN_REQUESTS, QUICK_MEMBERS, untilAllowed } from '../helpers/member-steps.ts'
import { runCommand } from '../helpers/run-command.ts'
import {
  freeBasePort,
  ProcessCluster,
  serverCommand,
  sha256,
  temporaryFolder,
} from '../helpers/process-cluster.ts'
import { TypedMachines } from '../helpers/typed-machines.ts'
import { TypedPage } from '../helpers/typed-page.ts'

const RUNBOOKS = fileURLToPath(new URL('../../deploy/runbooks/', import.meta.url))
/** Names as in the pages. */
const CLUSTER_ID = '5f0f6d0e6f0a4f5e9d6e6f1c2a7b9c10'
const OBJECTS = 12
/** The number of nodes on all pages together. */
const NODES_MAX = 9

async function holdfast(...argv: readonly string[]): Promise<void> {
  const { code, err } = await runCommand(...argv)
  if (code !== 0) throw new Error(`holdfast ${argv.join(' ')} ended with ${code}: ${err}`)
}

interface Written {
  readonly cluster: { readonly members: readonly { readonly id: string }[] }
}

/** Three nodes that speak TLS, each in its own rack, and the desk with the files of their operator. */
class Site {
  readonly machines: TypedMachines
  readonly cluster: ProcessCluster
  readonly #basePort: number
  readonly #written = new Map<string, string>()

  private constructor(machines: TypedMachines, cluster: ProcessCluster, basePort: number) {
    this.machines = machines
    this.cluster = cluster
    this.#basePort = basePort
  }

  static async start(t: Test): Promise<Site> {
    const dataDir = temporaryFolder(t)
    const machines = new TypedMachines(t, temporaryFolder(t))
    const basePort = await freeBasePort(1)
    const configFile = join(temporaryFolder(t), 'settings.yaml')
    writeFileSync(configFile, QUICK_MEMBERS)
    const options = { nodes: 3, dataDir, basePort, json: true, configFile, restart: false }
    const all = Array.from({ length: NODES_MAX }, (_, n) => {
      const [nodeId, host] = [`n${n + 1}`, `127.0.0.${n + 1}`]
      return {
        nodeId,
        dataUrl: `http://${host}:${basePort}`,
        adminUrl: `http://${host}:${basePort + 1}`,
        peerAddress: `${host}:${basePort + 2}`,
        dataDir: join(dataDir, nodeId),
        configFile: join(dataDir, `${nodeId}.yaml`),
        logFile: join(dataDir, `${nodeId}.log`),
      }
    })
    const [plan, spares] = [all.slice(0, 3), all.slice(3)]
    const desk = machines.folder('')
    const certs = join(desk, 'certs')
    const cluster = await ProcessCluster.startAt(t, {
      options,
      plan,
      spares,
      launch: (node) => ({ command: serverCommand(node) }),
      beforeStart: async ({ setup }) => {
        await holdfast('certs', 'init', '--dir', certs, '--cluster-id', setup.clusterId)
        for (const { nodeId, configFile } of plan) {
          await holdfast('certs', 'issue', '--dir', certs, '--node', nodeId)
          const [ca, cert, key] = ['ca.pem', `${nodeId}.pem`, `${nodeId}.key`].map((name) =>
            join(certs, name),
          )
          const config = parse(readFileSync(configFile, 'utf8')) as Written
          const members = config.cluster.members.map((one) => ({ ...one, zone: `rack-${one.id.slice(1)}` }))
          const cluster = { ...config.cluster, members }
          writeFileSync(configFile, stringify({ ...config, cluster, peer_tls: { ca, cert, key } }))
        }
        copyFileSync(join(dataDir, 'master.key'), join(desk, 'master.key'))
        writeFileSync(join(desk, 'owner.token'), setup.ownerToken)
      },
    })
    await cluster.login('n1')
    return new Site(machines, cluster, basePort)
  }

  /** `shift`: n1 of the page is the node after this many others. */
  page(name: string, shift = 0): TypedPage {
    const shifted = (digits: string): string => String(Number(digits) + shift)
    return new TypedPage({
      page: join(RUNBOOKS, `${name}.md`),
      local: (text) =>
        text
          .replaceAll(CLUSTER_ID, this.cluster.setup.clusterId)
          .replaceAll('/var/lib/holdfast', 'data')
          .replace(/^(data|admin)_tls: .*\n/gm, '')
          .replace(/^cluster:$/m, 'cluster:\n  promote_after: 1s')
          .replace(/^security:$/m, `${MANY_ADMIN_REQUESTS}\nsecurity:`)
          .replaceAll('https://10.0.0.', 'http://10.0.0.')
          .replace(/10(\\?)\.0\\?\.0\\?\.(\d)/g, (_, back: string, digits: string) =>
            ['127', '0', '0', shifted(digits)].join(`${back}.`),
          )
          .replace(/\bn(\d)\b/g, (_, digits: string) => `n${shifted(digits)}`)
          .replace(/:900(\d)/g, (_, offset: string) => `:${this.#basePort + Number(offset)}`),
      type: (machine, lines) => this.machines.type(machine, lines),
    })
  }

  /** The folder of a machine with its own configuration and this certificate. */
  async equip(nodeId: string, clusterId: string, pair: KeyPair): Promise<string> {
    const folder = this.machines.folder(nodeId)
    const desk = this.machines.folder('')
    const at = (offset: number): string => `127.0.0.10:${this.#basePort + offset}`
    for (const file of ['master.key', 'certs/ca.pem'])
      copyFileSync(join(desk, file), join(folder, basename(file)))
    await writePair({ certificate: join(folder, 'own.pem'), key: join(folder, 'own.key') }, pair)
    const members = [{ id: 'n4', peer: this.cluster.node('n4').peerAddress }]
    const config = {
      node: { id: nodeId, data_dir: 'data' },
      cluster: { id: clusterId, members },
      listeners: { data: at(0), admin: at(1), peer: at(2) },
      peer_tls: { ca: 'ca.pem', cert: 'own.pem', key: 'own.key' },
      security: { master_key_file: 'master.key' },
    }
    writeFileSync(join(folder, 'node.yaml'), stringify(config))
    return at(2)
  }

  async write(t: Test): Promise<void> {
    t.equal((await this.cluster.call('n1', 'POST', '/buckets', '{"name":"kept"}')).status, 201)
    for (let n = 0; n < OBJECTS; n++) {
      const body = randomBytes(90_000)
      t.equal((await this.cluster.call('n2', 'PUT', `/buckets/kept/objects/o${n}`, body)).status, 200)
      this.#written.set(`o${n}`, sha256(body))
    }
  }

  /** The zone of each member, as in the rows. */
  async zones(at: string): Promise<Readonly<Record<string, string>>> {
    const { body } = await this.cluster.admin(at, { method: 'GET', path: '/cluster/membership' })
    const { members } = JSON.parse(body.toString()) as { members: { nodeId: string; zone: string }[] }
    return Object.fromEntries(members.map(({ nodeId, zone }) => [nodeId, zone]))
  }

  async readBack(t: Test, ...nodes: readonly string[]): Promise<void> {
    for (const node of nodes)
      for (const [name, digest] of this.#written) {
        const { status, body } = await this.cluster.call(node, 'GET', `/buckets/kept/objects/${name}`)
        t.ok(status === 200 && sha256(body) === digest, `${name} at ${node}`)
      }
  }
}

/** A node with a wrong identity is refused, with the reason. */
async function wrongIdentities(t: Test, site: Site): Promise<void> {
  const { machines, cluster } = site
  const { clusterId } = cluster.setup
  const term = { now: Date.now(), days: 1 }
  const own = readAuthority(await readPair(pairFiles(join(machines.folder(''), 'certs'), 'ca')), term.now)
  const other = readAuthority(newAuthority(clusterId, term), term.now)
  const issued = (authority: Authority, nodeId: string) => newNodePair(authority, { nodeId, hosts: [] }, term)
  const start = (nodeId: string): Promise<string> =>
    machines.type(nodeId, 'holdfast server --config node.yaml --join || echo "exit code $?"')
  const joining = (nodeId: string, peer: string, more = ''): Promise<string> =>
    machines.type(
      '',
      `holdfast cluster join ${nodeId} --peer ${peer} --reason tests ${more} || echo "exit code $?"`,
    )

  await t.test('a certificate of another authority', async (t) => {
    const peer = await site.equip('n10', clusterId, issued(other, 'n10'))
    t.match(await start('n10'), /n10 waits/)
    t.match(
      await joining('n10', peer),
      /no node that waits answers there \(unreachable: a certificate was issued by another authority; peer_tls\.ca must[^]*exit code 3/,
    )
    t.match(machines.log('n10'), /"reason":"the handshake broke off".*"msg":"peer connection refused"/)
    await machines.end('n10', 'SIGTERM')
  })
  await t.test('a certificate and a configuration of another cluster', async (t) => {
    const elsewhere = randomUUID()
    const peer = await site.equip('n11', elsewhere, issued({ ...own, clusterId: elsewhere }, 'n11'))
    t.match(await start('n11'), /n11 waits/)
    t.match(
      await joining('n11', peer),
      /"n11" at .*: the node there belongs to another cluster[^]*exit code 3/,
    )
    await machines.end('n11', 'SIGTERM')
  })
  await t.test('a certificate of another node', async (t) => {
    await site.equip('n12', clusterId, issued(own, 'n13'))
    t.match(
      await start('n12'),
      /Cannot use certificate '.*own\.pem': it does not name node 'n12' of cluster '.*'\n.*certs issue --node n12/,
    )
  })
  await t.test('another node at that address, or another certificate than was expected', async (t) => {
    const peer = await site.equip('n13', clusterId, issued(own, 'n13'))
    const [, fingerprint = ''] = /certificate {2}(\S+)/.exec(await start('n13')) ?? []
    t.match(await joining('n14', peer), /the certificate there is of another node[^]*exit code 3/)
    const expected = fingerprint.replace(/^../, (first) => (first === '00' ? '01' : '00'))
    const refused = await joining('n13', peer, `--fingerprint ${expected}`)
    t.match(refused, `should show the certificate with fingerprint ${expected}, and shows that with`)
    t.match(refused, `fingerprint ${fingerprint}; look at both machines`)
    t.match(refused, /exit code 3\n/)
    await machines.end('n13', 'SIGTERM')
  })
}

t.test(
  'runbooks about members',
  { timeout: 1_800_000, skip: process.platform !== 'linux' && 'on other systems 127.0.0.4 is no address' },
  async (t) => {
    const site = await Site.start(t)
    const { cluster, machines } = site
    await site.write(t)

    await t.test('move-to-new-hardware: n1 to n3 become n4 to n6', async (t) => {
      const page = site.page('move-to-new-hardware')
      await page.type(t, 'What you need')
      await page.type(t, '1. Prepare the first new machine')
      await page.type(t, '2. Replace the first')
      await page.type(t, '3. Stop the old machine')
      await cluster.signal('n1', 'SIGTERM')
      await page.type(t, '4. The second')
      await cluster.signal('n2', 'SIGTERM')
      await page.type(t, '5. The third')
      await cluster.signal('n3', 'SIGTERM')
      await page.type(t, 'It is done when')
      t.same(page.untyped, [])
      t.same(await site.zones('n4'), { n4: 'rack-1', n5: 'rack-2', n6: 'rack-3' }, 'each in its rack')
      await site.readBack(t, 'n4', 'n6')
    })

    await t.test('grow-to-five: n4 to n6 are joined by n7 and n8', async (t) => {
      await site.page('grow-to-five', 3).typeAll(t)
      await site.readBack(t, 'n7')
    })

    await t.test('replace-dead-machine: n9 takes the place of n8, and n7 is declared lost', async (t) => {
      const page = site.page('replace-dead-machine', 3)
      for (const dead of ['n7', 'n8']) await machines.end(dead, 'SIGKILL')
      await page.type(t, '1. Who is it, and is there a majority')
      await page.type(t, '2. The new machine')
      await page.type(t, '3. Look at what would happen')
      await page.type(t, '4. Replace it')
      // While n7 is not silent for long enough.
      await t.test('meanwhile nodes with a wrong identity are refused [membership.join.certificate]', (t) =>
        wrongIdentities(t, site),
      )
      const body = { reason: 'tests', confirm: 'n7' }
      await untilAllowed(cluster, 'n4', { path: '/cluster/voters/n7/lost', body })
      await page.type(t, 'Without another machine')
      await page.type(t, 'It is done when')
      t.same(page.untyped, [])
      const zones = { n4: 'rack-1', n5: 'rack-2', n6: 'rack-3', n9: 'rack-5' }
      t.same(await site.zones('n4'), zones, 'n9 is in the rack of n8')
      await site.readBack(t, 'n4', 'n9')
    })
  },
)
