/**
 * Three real nodes whose master key is moved to a Vault, which then goes away, lies and refuses, and back: each line of the runbook is
 * typed. [deploy/runbooks/move-master-key.md]
 */
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { parse, stringify } from 'yaml'
import { until } from '../helpers/async.ts'
import { ProcessCluster, serverCommand, temporaryFolder } from '../helpers/process-cluster.ts'
import { blocksOf, installCommand, typed } from '../helpers/runbook.ts'
import { VaultStandIn } from '../key-providers/vault-stand-in.ts'

const NODES = ['n1', 'n2', 'n3']
const PLAIN_KEY = /[\w-]{43}$/gm

type Written = Record<string, Record<string, unknown>>

t.test('the master key of a cluster with a provider', { timeout: 1_800_000 }, async (t) => {
  const vault = new VaultStandIn()
  vault.createKey('holdfast')
  await vault.arrive()
  t.teardown(() => vault.leave())
  const credentials = temporaryFolder(t)
  const credentialFile = join(credentials, 'token')
  const token = vault.issueToken()
  writeFileSync(credentialFile, token, { mode: 0o600 })
  const environment: Record<string, string> = {}
  const cluster = await ProcessCluster.start(t, 3, null, {
    launch: (node) => ({ command: serverCommand(node), env: environment }),
  })

  const bin = temporaryFolder(t)
  installCommand(bin)
  const folder = dirname(cluster.node('n1').configFile)
  const keyFile = (nodeId: string): string => join(folder, `${nodeId}.key`)
  const log = (nodeId: string): string => readFileSync(cluster.node(nodeId).logFile, 'utf8')
  const type = (block: string): Promise<string> =>
    typed(`cd '${folder}'\n${block}`, { PATH: `${bin}:${process.env['PATH'] ?? ''}` })
  const blocks = [...blocksOf('move-master-key.md')]
  const typeNext = (): Promise<string> => type(blocks.shift() ?? 'false')

  /** Of every node. */
  const secure = (nodeId: string, settings: Record<string, unknown>): void => {
    const { configFile } = cluster.node(nodeId)
    const written = parse(readFileSync(configFile, 'utf8')) as Written
    written['security'] = { ...written['security'], ...settings }
    writeFileSync(configFile, stringify(written))
  }
  const copyKey = (): void => {
    for (const nodeId of ['n2', 'n3']) copyFileSync(keyFile('n1'), keyFile(nodeId))
  }
  const restartAll = async (): Promise<void> => {
    for (const nodeId of NODES) {
      await cluster.signal(nodeId, 'SIGTERM')
      cluster.startNode(nodeId)
      await cluster.allReady()
    }
  }
  /** A login and a write at each node, and all reads. */
  const serves = async (name: string): Promise<void> => {
    for (const nodeId of NODES) {
      await cluster.login(nodeId)
      const path = `/buckets/kept/objects/${name}-${nodeId}`
      const body = Buffer.from(`${name} at ${nodeId}`.repeat(1000))
      t.equal((await cluster.call(nodeId, 'PUT', path, body)).status, 200)
      for (const reader of NODES) {
        t.ok(
          (await cluster.call(reader, 'GET', path)).body.equals(body),
          `${reader} reads what ${nodeId} wrote`,
        )
        const oldest = await cluster.call(reader, 'GET', '/buckets/kept/objects/oldest')
        t.equal(oldest.body.toString(), 'before any of it')
      }
    }
  }
  const providerIs = (up: number) =>
    until(`every node says that its provider is ${up === 1 ? 'good' : 'not'}`, async () => {
      const said = await Promise.all(
        NODES.map((nodeId) => cluster.metric(nodeId, 'holdfast_key_provider_up')),
      )
      return said.every((value) => value === up)
    })

  for (const nodeId of NODES) {
    copyFileSync(join(folder, 'master.key'), keyFile(nodeId))
    secure(nodeId, { master_key_file: `${nodeId}.key` })
  }
  rmSync(join(folder, 'master.key'))
  await cluster.login('n1')
  await cluster.call('n1', 'POST', '/buckets', '{"name":"kept"}')
  await cluster.call('n1', 'PUT', '/buckets/kept/objects/oldest', Buffer.from('before any of it'))
  const [plainKey = ''] = readFileSync(keyFile('n1'), 'utf8').match(PLAIN_KEY) ?? []

  await t.test('moves to Vault while it serves', async (t) => {
    await typeNext()
    const settings = {
      master_key_provider: 'vault',
      master_key_check_every: '1s',
      master_key_wait: '10m',
      vault: { url: vault.url, key_name: 'holdfast', credential_file: credentialFile },
    }
    for (const nodeId of NODES) secure(nodeId, settings)
    await t.rejects(
      type('holdfast config check --config n1.yaml'),
      /itself, and\s+security.master_key_provider is vault/,
    )
    const printed = await typeNext()
    t.match(printed, /wrapped by vault\. Copy[^]*is a valid configuration[^]*newest {2}vault version 1\n$/)
    copyKey()
    await restartAll()
    await serves('moved')
    await providerIs(1)
    t.notOk(readFileSync(keyFile('n1'), 'utf8').includes(plainKey), 'no key is in the file')
  })

  await t.test('is exchanged for a key that no disk has seen, and for a new version of Vault', async (t) => {
    vault.rotateKey('holdfast')
    t.match(await typeNext(), /contains the new master key mk-/)
    copyKey()
    await restartAll()
    await until('nothing is sealed under the old key', async () => {
      const leader = await cluster.leader()
      if (leader === undefined) return false
      return (await cluster.metric(leader, 'holdfast_master_key_secrets_remaining')) === 0
    })
    await until('the old line is counted', async () => {
      return (await cluster.metric('n1', 'holdfast_key_provider_older_lines')) === 1
    })
    const listed = await typeNext()
    t.equal(listed.match(/vault version 2$/gm)?.length, 2, 'both lines are under the new version')
    const [newest = ''] = readFileSync(keyFile('n1'), 'utf8').split('\n')
    writeFileSync(keyFile('n1'), `${newest}\n`)
    copyKey()
    await restartAll()
    await serves('exchanged')
  })

  await t.test('is waited for by nodes that start while Vault is away', async (t) => {
    await vault.leave()
    await providerIs(0)
    await serves('without')
    await Promise.all(NODES.map((nodeId) => cluster.signal(nodeId, 'SIGKILL')))
    for (const nodeId of NODES) cluster.startNode(nodeId)
    for (const nodeId of NODES) {
      let said: string | null = ''
      await until(`${nodeId} says what it waits for`, async () => {
        said = await cluster.unreadiness(nodeId)
        return said !== '' && said !== null
      })
      t.match(
        said ?? '',
        /"code":"leader_not_ready".*waits for its master key: Vault did not answer \(ECONNREFUSED\)/,
      )
      t.match(log(nodeId), /"reason":"Vault did not answer[^]*waiting for the provider of the master key/)
    }
    t.equal(await cluster.signal('n3', 'SIGTERM'), 0, 'a stop ends the wait')
    cluster.startNode('n3')
    await vault.arrive()
    await cluster.allReady()
    await serves('waited')
    await providerIs(1)
  })

  await t.test('is not waited for longer than set, nor where waiting is of no use', async (t) => {
    await cluster.signal('n3', 'SIGTERM')
    const good = readFileSync(keyFile('n3'), 'utf8')
    /** What a start of n3 prints that is refused. */
    const refused = async (): Promise<string> => {
      const before = log('n3').length
      cluster.startNode('n3')
      t.not(await cluster.ended('n3'), 0)
      return log('n3').slice(before)
    }
    await vault.leave()
    environment['HOLDFAST_SECURITY__MASTER_KEY_WAIT'] = '1s'
    t.match(await refused(), /^error: Cannot open the master key: Vault did not answer/m)
    delete environment['HOLDFAST_SECURITY__MASTER_KEY_WAIT']
    await vault.arrive()
    vault.fault = 'lying'
    t.match(await refused(), /^error: The provider opened .* something other than this key/m)
    vault.fault = null
    writeFileSync(credentialFile, 'hvs.stolen-and-revoked')
    const denied = await refused()
    t.match(denied, /^error: .*403: permission denied/m)
    t.notOk(denied.includes('hvs.stolen'))
    writeFileSync(credentialFile, token)
    rmSync(keyFile('n3'))
    await type('holdfast master-key create n3.key --config n3.yaml')
    t.match(await refused(), /made with another key fingerprint/)
    writeFileSync(keyFile('n3'), good)
    cluster.startNode('n3')
    await cluster.allReady()
    await serves('refused')
  })

  await t.test('goes back to a file, and Vault is not needed any more', async (t) => {
    const vaulted = readFileSync(cluster.node('n1').configFile, 'utf8')
    await typeNext()
    for (const nodeId of NODES) secure(nodeId, { master_key_provider: 'file' })
    t.match(await typeNext(), /themselves\. Copy/)
    // A copy for a safe, from a node that still has the provider.
    const desk = join(folder, 'desk')
    mkdirSync(desk)
    copyFileSync(join(folder, 'before.yaml'), join(desk, 'n1.yaml'))
    writeFileSync(
      join(desk, 'safe.yaml'),
      vaulted.replace('provider: vault', 'provider: file').replace('n1.key', 'safe.key'),
    )
    copyFileSync(keyFile('n2'), join(desk, 'safe.key'))
    await type(`cd desk\n${blocks.shift() ?? 'false'}`)
    t.equal(readFileSync(join(desk, 'safe.key'), 'utf8'), readFileSync(keyFile('n1'), 'utf8'))
    t.strictSame(blocks, [], 'the whole page was typed')
    copyKey()
    await restartAll()
    await vault.leave()
    await restartAll()
    await serves('back')
  })

  await t.test('is in no log, nor is the token', async (t) => {
    const [key = ''] = readFileSync(keyFile('n1'), 'utf8').match(PLAIN_KEY) ?? []
    t.not(key, plainKey)
    for (const nodeId of NODES)
      for (const secret of [token, plainKey, key, Buffer.from(key, 'base64url').toString('base64')])
        t.notOk(log(nodeId).includes(secret), nodeId)
  })
})
