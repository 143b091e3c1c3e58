/**
 * `npm start` as decisions 15 describes it, and every refusal that an operator can get before a node serves.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { parse, stringify } from 'yaml'
import { nodeProgram } from '../../scripts/build/node-program.ts'
import { withoutLoader } from '../helpers/without-loader.ts'
import { until } from '../helpers/async.ts'
import { freeBasePort, temporaryFolder } from '../helpers/process-cluster.ts'

const LAUNCHER = fileURLToPath(new URL('../../scripts/local/cluster.ts', import.meta.url))
const ROOT = fileURLToPath(new URL('../..', import.meta.url))

interface Description {
  readonly ready: boolean
  readonly clusterId: string
  readonly dataDir: string
  readonly nodes: readonly {
    nodeId: string
    pid: number
    dataUrl: string
    adminUrl: string
    peerAddress: string
    dataDir: string
    configFile: string
  }[]
  readonly ownerToken: string
  readonly tenantId: string
  readonly accessKeyId: string
  readonly secretKey: string
}

interface Run {
  readonly child: ChildProcess
  readonly ended: Promise<number | string>
  stdout: string
  stderr: string
}

function launch(t: Test, args: readonly string[], command = [process.execPath, LAUNCHER]): Run {
  const child = spawn(...withoutLoader(...command, ...args), {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = new Promise<number | string>((resolve) =>
    child.once('exit', (code, signal) => resolve(code ?? signal ?? '')),
  )
  const run: Run = { child, ended, stdout: '', stderr: '' }
  child.stdout?.on('data', (piece) => (run.stdout += String(piece)))
  child.stderr?.on('data', (piece) => (run.stderr += String(piece)))
  t.teardown(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM')
    await ended
  })
  return run
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    // The process is gone.
    return false
  }
}

async function described(run: Run): Promise<Description> {
  await until(
    `the cluster is ready (${run.stderr})`,
    () => run.stdout.includes('\n') || run.child.exitCode !== null,
  )
  if (run.stdout === '') throw new Error(`the launcher ended: ${run.stderr}`)
  return JSON.parse(run.stdout) as Description
}

async function ask(
  url: string,
  init: RequestInit = {},
): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await fetch(url, init)
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

async function tokenOf(cluster: Description): Promise<string> {
  const basic = Buffer.from(`${cluster.accessKeyId}:${cluster.secretKey}`).toString('base64')
  const { body } = await ask(`${cluster.nodes[0]?.dataUrl}/api/v1/auth/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${basic}` },
  })
  return String(body['token'])
}

t.test('npm start --json', { timeout: 1_800_000 }, async (t) => {
  const dataDir = join(temporaryFolder(t), 'data')
  const basePort = await freeBasePort(3)
  const args = ['--data', dataDir, '--base-port', String(basePort), '--json']
  const first = launch(t, args)
  const cluster = await described(first)

  t.equal(first.stdout.split('\n').length, 2, 'standard output carries exactly one line')
  t.match(cluster, {
    ready: true,
    dataDir,
    tenantId: 'demo',
    ownerToken: /^svcadm_/,
    accessKeyId: /^AK/,
    secretKey: /^.{40}$/,
  })
  cluster.nodes.forEach((node, i) => {
    t.match(node, {
      nodeId: `n${i + 1}`,
      dataUrl: `http://127.0.0.1:${basePort + 10 * i}`,
      adminUrl: `http://127.0.0.1:${basePort + 10 * i + 1}`,
      peerAddress: `127.0.0.1:${basePort + 10 * i + 2}`,
    })
  })
  t.equal(statSync(join(dataDir, 'cluster.json')).mode & 0o777, 0o600, 'cluster.json is private')
  t.same(JSON.parse(readFileSync(join(dataDir, 'cluster.json'), 'utf8')), cluster)

  const authorization = `Bearer ${await tokenOf(cluster)}`
  const at = (node: number, path: string): string => `${cluster.nodes[node]?.dataUrl}/api/v1${path}`
  t.equal(
    (
      await ask(at(0, '/buckets'), {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json' },
        body: '{"name":"kept"}',
      })
    ).status,
    201,
  )
  t.equal(
    (
      await ask(at(1, '/buckets/kept/objects/a%20file'), {
        method: 'PUT',
        headers: { authorization },
        body: 'the bytes',
      })
    ).status,
    200,
  )

  await t.test('reports a node that is killed, and leaves the others running', async (t) => {
    process.kill(cluster.nodes[2]?.pid ?? 0, 'SIGKILL')
    await until('the launcher says so', () =>
      /node n3 ended \(SIGKILL\); 2 of 3 nodes run/.test(first.stderr),
    )
    const seen = await fetch(at(0, '/buckets/kept/objects/a%20file'), { headers: { authorization } })
    t.equal(await seen.text(), 'the bytes')
  })

  await t.test('stops cleanly on SIGTERM', async (t) => {
    first.child.kill('SIGTERM')
    t.equal(await first.ended, 0)
  })

  await t.test('continues with the same data and credentials when started again', async (t) => {
    const again = await described(launch(t, args))
    const { ownerToken, accessKeyId, secretKey, clusterId } = cluster
    t.match(again, { ownerToken, accessKeyId, secretKey, clusterId })
    const seen = await fetch(at(2, '/buckets/kept/objects/a%20file'), {
      headers: { authorization: `Bearer ${await tokenOf(again)}` },
    })
    t.equal(await seen.text(), 'the bytes')
    const metrics = await fetch(`${cluster.nodes[1]?.adminUrl}/metrics`)
    t.match(await metrics.text(), /holdfast_raft_commit_index \d+/)
  })

  await t.test('refuses another number of nodes on the same data', async (t) => {
    const run = launch(t, ['--data', dataDir, '--nodes', '1', '--base-port', String(await freeBasePort(1))])
    t.not(await run.ended, 0)
    t.match(run.stderr, /contains a cluster of 3 nodes, not 1\n +Start it with --nodes 3/)
  })
})

t.test(
  'npm start accepts any port, also 10080, and forwards SIGTERM: no node outlives it',
  { timeout: 1_800_000 },
  async (t) => {
    const args = ['--json', '--nodes', '1', '--data', join(temporaryFolder(t), 'data')]
    // The admin listener gets 10080, a port that fetch refuses.
    const run = launch(t, [...args, '--base-port', '10079'], ['npm', 'start', '--'])
    const pid = (await described(run)).nodes[0]?.pid ?? 0
    t.ok(isAlive(pid))
    // Without its last node the launcher ends as well.
    t.teardown(() => isAlive(pid) && process.kill(pid, 'SIGKILL'))
    run.child.kill('SIGTERM')
    await run.ended
    await until('the node has ended', () => !isAlive(pid))
  },
)

t.test('npm start refuses', async (t) => {
  const cases: readonly [string, readonly string[], RegExp][] = [
    ['an unknown option', ['--node', '3'], /unknown option '--node'/],
    ['no number of nodes', ['--nodes', 'many'], /'many' is invalid. expected a whole number from 1 to 9/],
    ['a port that does not exist', ['--base-port', '99999'], /'99999' is invalid. expected a whole number/],
  ]
  for (const [what, args, says] of cases) {
    const run = launch(t, ['--data', join(temporaryFolder(t), 'd'), ...args])
    t.not(await run.ended, 0, what)
    t.match(run.stderr, says)
    t.equal(run.stdout, '')
  }
  const folder = temporaryFolder(t)
  writeFileSync(join(folder, 'letters.txt'), 'mine')
  const other = launch(t, ['--data', folder])
  t.not(await other.ended, 0)
  t.match(other.stderr, /is not empty and contains no cluster \('letters.txt' is there\)/)

  const basePort = await freeBasePort(1)
  const squatter = createServer().listen(basePort, '127.0.0.1')
  t.teardown(() => squatter.close())
  const taken = launch(t, [
    '--data',
    join(temporaryFolder(t), 'd'),
    '--nodes',
    '1',
    '--base-port',
    String(basePort),
  ])
  t.not(await taken.ended, 0)
  t.match(taken.stderr, new RegExp(`127.0.0.1:${basePort} is already in use`))
})

t.test('holdfast server refuses, names the remedy, and changes nothing', { timeout: 999_000 }, async (t) => {
  const dataDir = join(temporaryFolder(t), 'data')
  const basePort = await freeBasePort(1)
  const run = launch(t, ['--data', dataDir, '--nodes', '1', '--base-port', String(basePort), '--json'])
  const cluster = await described(run)
  const node = cluster.nodes[0]
  if (node === undefined) throw new Error('no node')
  const good = parse(readFileSync(node.configFile, 'utf8')) as Record<string, Record<string, unknown>>
  const serve = (
    name: string,
    change: (config: typeof good) => unknown,
    environment: Record<string, string> = {},
  ) => {
    const config = structuredClone(good)
    change(config)
    const file = join(dataDir, `${name}.yaml`)
    writeFileSync(file, stringify(config))
    return spawnSync(...withoutLoader(process.execPath, nodeProgram(), 'server', '--config', file), {
      encoding: 'utf8',
      env: { ...process.env, ...environment },
      timeout: 1_800_000,
    })
  }
  const refused = (
    t: Test,
    result: { status: number | null; stderr: string },
    ...says: readonly RegExp[]
  ): void => {
    t.equal(result.status, 1, result.stderr)
    for (const text of says) t.match(result.stderr, text)
  }

  await t.test('a data directory that another process uses', async (t) => {
    refused(
      t,
      serve('twice', () => undefined),
      /another process uses/,
    )
  })
  run.child.kill('SIGTERM')
  t.equal(await run.ended, 0)

  await t.test('a configuration with an unknown key, naming the nearest', async (t) => {
    refused(
      t,
      serve('unknown', (c) => (c['security'] = { ...c['security'], max_presign_tll: '1h' })),
      /Unknown setting 'security.max_presign_tll'/,
      /Did you mean 'security.max_presign_ttl'\?/,
    )
    refused(
      t,
      serve('env', () => undefined, { HOLDFAST_LOGGING__LEVLE: 'info' }),
      /HOLDFAST_LOGGING__LEVLE/,
      /HOLDFAST_LOGGING__LEVEL/,
    )
    refused(
      t,
      serve('unit', (c) => (c['security'] = { ...c['security'], native_api_token_ttl: 'soon' })),
      /expected a duration such as/,
    )
  })
  await t.test('a data directory of another cluster', async (t) => {
    refused(
      t,
      serve('foreign', (c) => (c['cluster'] = { ...c['cluster'], id: 'another-cluster' })),
      /another-cluster/,
      /cluster/,
    )
  })
  await t.test('a master key that does not match this data', async (t) => {
    const key = spawnSync(
      ...withoutLoader(process.execPath, nodeProgram(), 'master-key', 'create', join(dataDir, 'other.key')),
      { encoding: 'utf8' },
    )
    t.equal(key.status, 0, key.stderr)
    refused(
      t,
      serve('key', (c) => (c['security'] = { master_key_file: 'other.key' })),
      /key/,
    )
  })
  await t.test('a master key file that is missing or readable by others', async (t) => {
    refused(
      t,
      serve('nokey', (c) => (c['security'] = { master_key_file: 'none.key' })),
      /none\.key/,
    )
    cpSync(join(dataDir, 'master.key'), join(dataDir, 'open.key'))
    chmodSync(join(dataDir, 'open.key'), 0o644)
    refused(
      t,
      serve('openkey', (c) => (c['security'] = { master_key_file: 'open.key' })),
      /open\.key/,
    )
  })
  await t.test('a port in use', async (t) => {
    const squatter = createServer()
    await new Promise<void>((resolve) => squatter.listen(0, '127.0.0.1', resolve))
    t.teardown(() => squatter.close())
    const { port } = squatter.address() as { port: number }
    for (const listener of ['data', 'admin', 'peer']) {
      const result = serve(
        `port-${listener}`,
        (c) => (c['listeners'] = { ...c['listeners'], [listener]: `127.0.0.1:${port}` }),
      )
      refused(t, result, new RegExp(`127.0.0.1:${port}`), /in use/)
    }
  })
  await t.test('a peer listener beyond loopback without certificates [tls.plain-peers]', async (t) => {
    refused(
      t,
      serve('plain', (c) => (c['listeners'] = { ...c['listeners'], peer: '0.0.0.0:7000' })),
      /peer_tls|certificate/,
    )
  })
  await t.test('and serves the data again with the right configuration', async (t) => {
    const again = await described(
      launch(t, ['--data', dataDir, '--nodes', '1', '--base-port', String(basePort), '--json']),
    )
    t.equal(again.accessKeyId, cluster.accessKeyId)
    t.match(await tokenOf(again), /^svctk_/)
  })
})

t.test('holdfast admin-token', { timeout: 1_800_000 }, async (t) => {
  const dataDir = join(temporaryFolder(t), 'data')
  const basePort = String(await freeBasePort(1))
  const args = ['--data', dataDir, '--nodes', '1', '--base-port', basePort, '--json']
  const ofFirstNode = ['--data', join(dataDir, 'n1'), '--json']
  const cli = (...words: readonly string[]) =>
    spawnSync(...withoutLoader(process.execPath, nodeProgram(), 'admin-token', ...words, ...ofFirstNode), {
      encoding: 'utf8',
    })
  const first = launch(t, args)
  const cluster = await described(first)
  const tenants = `${cluster.nodes[0]?.adminUrl}/admin/api/v1/tenants`
  const statusWith = async (token: string): Promise<number> =>
    (await ask(tenants, { headers: { authorization: `Bearer ${token}` } })).status

  const made = JSON.parse(cli('create', '--name', 'ops', '--role', 'viewer').stdout) as {
    token: string
    tokenId: string
    inForce: boolean
  }
  t.equal(made.inForce, true)
  t.equal(await statusWith(made.token), 200, 'a token created while the node runs is valid at once')
  t.match(cli('list').stdout, made.tokenId)
  t.notMatch(cli('list').stdout, made.token)
  t.equal(cli('revoke', made.tokenId).status, 0)
  t.equal(await statusWith(made.token), 401, 'a revoked token is refused at once')

  first.child.kill('SIGTERM')
  t.equal(await first.ended, 0)
  const pending = JSON.parse(cli('create', '--name', 'later', '--role', 'viewer').stdout) as {
    token: string
    inForce: boolean
  }
  t.equal(pending.inForce, false)
  t.equal(cli('list').status, 4, 'a list needs a running node')
  t.equal(cli('create', '--name', 'x', '--role', 'king').status, 2, 'an unknown role is wrong use')
  await described(launch(t, args))
  await until('the pending token is granted', async () => (await statusWith(pending.token)) === 200)
  t.pass('a token created while the node was stopped is valid from its start')
  mkdirSync(join(dataDir, 'empty'))
})
