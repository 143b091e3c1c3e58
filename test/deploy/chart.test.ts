/**
 * deploy/helm/holdfast: values, scripts and templates fit each other; rendered and validated where helm and kubernetes-validate are installed.
 */
import { spawn, spawnSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { chmodSync, readdirSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { delimiter, join } from 'node:path'
import { Ajv } from 'ajv'
import t, { type Test } from 'tap'
import { parse, parseAllDocuments } from 'yaml'
import { examineConfig } from '../../src/config/load-config.ts'
import { temporaryFolder } from '../helpers/process-cluster.ts'
import { exists, hasCommand, inRoot, read } from './files.ts'

const CHART = 'deploy/helm/holdfast'
const values = parse(read(`${CHART}/values.yaml`)) as Readonly<Record<string, unknown>>

interface Named {
  readonly name: string
}
interface Node {
  readonly id: string
  readonly pod: string
  readonly founder: boolean
}
interface Member {
  readonly nodeId: string
  readonly peerAddress: string
}
interface Start {
  readonly nodeOf: (pod: object) => { readonly id: string; readonly joins: boolean }
}
interface Members {
  readonly joining: (nodes: readonly Node[], members: readonly Member[]) => readonly Node[]
  readonly leaving: (
    nodes: readonly Node[],
    members: readonly Member[],
    sets: readonly Named[],
  ) => readonly Member[]
}

t.test('the chart', async (t) => {
  t.test('has the version of the package', async (t) => {
    const { version } = JSON.parse(read('package.json')) as { readonly version: string }
    t.match(parse(read(`${CHART}/Chart.yaml`)), { version, appVersion: version })
  })

  t.test('has values that its schema accepts, each described, and refuses others', async (t) => {
    const schema = JSON.parse(read(`${CHART}/values.schema.json`))
    const accepts = new Ajv({ strict: true }).compile(schema)
    t.ok(accepts(values), JSON.stringify(accepts.errors))
    const readme = read(`${CHART}/README.md`)
    for (const name of Object.keys(values)) {
      t.ok(name in schema.properties, name)
      t.match(readme, `\`${name}`, `README.md describes ${name}`)
    }
    for (const wrong of [
      { replica: 3 },
      { replicas: 0 },
      { zones: ['a', 'a'] },
      { storage: { size: 'big' } },
    ])
      t.notOk(accepts({ ...values, ...wrong }), JSON.stringify(wrong))
  })

  t.test('names only files that it has', async (t) => {
    const templates = readdirSync(inRoot(`${CHART}/templates`)).map((name) =>
      read(`${CHART}/templates/${name}`),
    )
    const named = templates.flatMap((template) => [...template.matchAll(/Files\.Get "([^"]+)"/g)])
    t.ok(named.length > 3)
    for (const [, file = ''] of named) t.ok(exists(`${CHART}/${file}`), file)
  })
})

t.test('a pod', async (t) => {
  const { nodeOf } = (await import(inRoot(`${CHART}/files/start.mjs`))) as Start
  const founders = ['h-0', 'h-1', 'h-2']
  const of = (pod: string, isKnown: boolean, names = {}) => nodeOf({ pod, founders, names, isKnown })
  t.same(of('h-0', false), { id: 'h-0', joins: false }, 'a founder never waits to join')
  t.same(of('h-3', false), { id: 'h-3', joins: true })
  t.same(of('h-3', true), { id: 'h-3', joins: false }, 'a pod that moved with its volume starts as it is')
  t.same(of('h-3', false, { 'h-3': 'h-3b' }), { id: 'h-3b', joins: true })
})

t.test('changes of members', async (t) => {
  const { joining, leaving } = (await import(inRoot(`${CHART}/files/members.mjs`))) as Members
  const node = (at: number, id = `h-${at}`): Node => ({ id, pod: `h-${at}`, founder: at < 3 })
  const member = (nodeId: string, pod = nodeId): Member => ({
    nodeId,
    peerAddress: `${pod}.h-peers.store.svc.cluster.local:9002`,
  })
  const three = [0, 1, 2].map((at) => node(at))
  const members = ['h-0', 'h-1', 'h-2', 'h-3', 'h-4'].map((id) => member(id))
  const ids = (list: readonly Member[]) => list.map(({ nodeId }) => nodeId)
  t.same(joining([...three, node(3)], members.slice(0, 3)), [node(3)])
  t.same(joining(three, members.slice(0, 1)), [], 'founders form the cluster themselves')
  t.same(joining([...three, node(3)], members), [])
  t.same(ids(leaving(three, members, [{ name: 'h' }])), ['h-4', 'h-3'], 'the highest first')
  t.same(ids(leaving([...three, node(3, 'h-3b')], members, [{ name: 'h' }])), ['h-4', 'h-3'])
  t.same(leaving(three, [...members.slice(0, 3), member('n9', 'other-3')], [{ name: 'h' }]), [])
  t.same(leaving(three, [member('h-a-3')], [{ name: 'h' }]), [], 'h-a is another set')
})

interface Secret {
  readonly metadata: { readonly name: string }
  readonly data: Readonly<Record<string, string>>
}

/** As much of the API of Kubernetes as the Job calls. */
class SecretsApi {
  readonly secrets = new Map<string, Secret>()
  /** What each request said of its connection. */
  readonly connections: (string | undefined)[] = []
  url = ''

  async start(t: Test): Promise<void> {
    const server = createServer(async (request, response) => {
      this.connections.push(request.headers.connection)
      const { status, body } = this.#answer(request, await text(request))
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body ?? {}))
    })
    t.teardown(() => server.close())
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  #answer({ method, url = '', headers }: IncomingMessage, body: string): { status: number; body?: unknown } {
    if (headers.authorization !== 'Bearer t0ken') return { status: 401 }
    const [, name = ''] = /^\/api\/v1\/namespaces\/store\/secrets\/?(.*)$/.exec(url) ?? []
    const found = this.secrets.get(name)
    if (method === 'GET') return found === undefined ? { status: 404 } : { status: 200, body: found }
    const given = JSON.parse(body) as Secret
    if (method === 'POST') this.secrets.set(given.metadata.name, given)
    else if (found !== undefined) this.secrets.set(name, { ...found, data: { ...found.data, ...given.data } })
    return { status: 200 }
  }
}

t.test('the Job of the secrets', async (t) => {
  const folder = temporaryFolder(t)
  const api = new SecretsApi()
  await api.start(t)
  const program = join(folder, 'holdfast')
  writeFileSync(program, `#!/bin/sh\nexec ${process.execPath} ${inRoot('src/main.ts')} "$@"\n`)
  chmodSync(program, 0o755)
  writeFileSync(join(folder, 'token'), 't0ken\n')
  const run = async (...ids: readonly string[]) => {
    const nodesFile = join(folder, 'nodes.json')
    writeFileSync(nodesFile, JSON.stringify(ids.map((id) => ({ id, host: `${id}.h-peers` }))))
    const child = spawn(process.execPath, [inRoot(`${CHART}/files/secrets.mjs`)], {
      env: {
        ...process.env,
        PATH: `${folder}${delimiter}${process.env['PATH']}`,
        TMPDIR: folder,
        NAMESPACE: 'store',
        AUTHORITY: 'h-authority',
        NODES: 'h-nodes',
        HOSTS: 'h.store.svc,localhost',
        NODES_FILE: nodesFile,
        TOKEN_FILE: join(folder, 'token'),
        KUBERNETES: api.url,
      },
    })
    const [out, err] = [text(child.stdout), text(child.stderr)]
    const code = await new Promise((resolve) => child.once('close', resolve))
    return { code, out: await out, err: await err }
  }
  const dataOf = (name: string) => api.secrets.get(name)?.data ?? {}

  const { code, out, err } = await run('h-0', 'h-1', 'h-2')
  t.equal(code, 0, err)
  t.match(out, /made h-authority: back it up/)
  t.ok(
    api.connections.every((one) => one === 'close'),
    'no call waits on a connection that the server closed while certificates were made',
  )
  const first = dataOf('h-nodes')
  await t.test('makes the authority apart from what nodes get', async (t) => {
    t.same(Object.keys(dataOf('h-authority')).sort(), ['ca.key', 'ca.pem', 'cluster-id', 'master.key'])
    const shared = ['ca.pem', 'cluster-id', 'master.key']
    const own = ['h-0', 'h-1', 'h-2'].flatMap((id) => [`${id}.key`, `${id}.pem`])
    t.same(Object.keys(first).sort(), [...shared, ...own].sort())
    const certificate = new X509Certificate(Buffer.from(first['h-1.pem'] ?? '', 'base64'))
    const clusterId = Buffer.from(first['cluster-id'] ?? '', 'base64').toString()
    t.match(certificate.subjectAltName, `URI:holdfast://${clusterId}/h-1`)
    for (const host of ['h-1.h-peers', 'h.store.svc', 'localhost']) t.ok(certificate.checkHost(host), host)
  })
  await t.test('changes nothing when everything is there', async (t) => {
    t.match(await run('h-0', 'h-1', 'h-2'), { code: 0, out: /nothing was changed/ })
    t.same(dataOf('h-nodes'), first)
  })
  await t.test('makes the certificate of one more node and leaves the rest', async (t) => {
    t.match(await run('h-0', 'h-1', 'h-2', 'h-3'), { code: 0, out: 'made the certificate of h-3\n' })
    const { 'h-3.pem': pem, 'h-3.key': key, ...rest } = dataOf('h-nodes')
    t.ok(pem !== undefined && key !== undefined)
    t.same(rest, first)
  })
  await t.test('makes no second authority beside nodes of the first', async (t) => {
    api.secrets.delete('h-authority')
    t.match(await run('h-0', 'h-4'), { code: 1, err: /h-authority is gone .* put it back from your backup/ })
    t.notOk('h-4.key' in dataOf('h-nodes'))
  })
})

const withHelm = hasCommand('helm', 'version') ? false : 'helm is not installed'
const withValidator = hasCommand('kubernetes-validate', '--version')
  ? false
  : 'kubernetes-validate, which brings the published schemas, is not installed'
const VARIANTS: readonly (readonly string[])[] = [
  [],
  ['replicas=5', 'members.tokenSecret=owner', 'serviceMonitor.enabled=true'],
  ['zones={a,b,c}', 'founders=1', 'replicas=2', 'names.holdfast-a-1=again', 'tls.enabled=false'],
  [
    'secrets.existing=mine',
    'networkPolicy.enabled=false',
    'storage.className=fast',
    'config.logging.level=debug',
  ],
  [
    'secrets.existing=mine',
    'masterKey.provider=vault',
    'masterKey.secret=vault-ca',
    'masterKey.tokenAudience=vault',
    ...['url=https://vault.example:8200', 'key_name=holdfast', 'auth=kubernetes', 'role=holdfast'].map(
      (one) => `masterKey.settings.${one}`,
    ),
    'masterKey.settings.credential_file=/run/holdfast-key-token/token',
  ],
]

// A helm that was built by `go install` takes Kubernetes for 1.20.
const helm = (command: string, set: readonly string[]) =>
  spawnSync(
    'helm',
    [
      command,
      ...(command === 'template' ? ['holdfast'] : []),
      inRoot(CHART),
      '--namespace=store',
      '--kube-version=1.31.0',
      ...set.flatMap((one) => ['--set', one]),
    ],
    { encoding: 'utf8' },
  )

interface Rendered {
  readonly kind: string
  readonly metadata: { readonly name: string }
  /** Of a StatefulSet or a Job. */
  readonly spec: {
    readonly updateStrategy: { readonly type: string }
    readonly template: {
      readonly spec: {
        readonly automountServiceAccountToken: boolean
        readonly securityContext: unknown
        readonly containers: readonly { readonly securityContext: unknown; readonly lifecycle?: unknown }[]
      }
    }
  }
}

const rendered = (set: readonly string[]): readonly Rendered[] =>
  parseAllDocuments(helm('template', set).stdout).flatMap((document) => {
    const content = document.toJS() as Rendered | null
    return content === null ? [] : [content]
  })

t.test('rendered by helm', { skip: withHelm }, async (t) => {
  t.test('passes its lint and, where that is installed, the published schemas', async (t) => {
    for (const set of VARIANTS) {
      t.equal(helm('lint', set).status, 0, helm('lint', set).stdout)
      const { status, stdout, stderr } = helm('template', set)
      t.equal(status, 0, stderr)
      if (withValidator !== false) continue
      const file = join(temporaryFolder(t), 'rendered.yaml')
      writeFileSync(file, stdout)
      for (const version of ['1.27', '1.31', '1.37']) {
        const judged = spawnSync('kubernetes-validate', ['--strict', '-k', version, file], {
          encoding: 'utf8',
        })
        t.equal(judged.status, 0, `${version} ${set.join()}: ${judged.stdout}${judged.stderr}`)
      }
    }
    if (withValidator !== false) t.comment(withValidator)
  })

  t.test('leaves no container rights, a writable root or a token that it does not need', async (t) => {
    for (const { kind, metadata, spec } of VARIANTS.flatMap(rendered)) {
      if (kind !== 'StatefulSet' && kind !== 'Job') continue
      const pod = spec.template.spec
      t.match(pod.securityContext, {
        runAsNonRoot: true,
        runAsUser: 10001,
        seccompProfile: { type: 'RuntimeDefault' },
      })
      t.equal(pod.automountServiceAccountToken, metadata.name === 'holdfast-secrets', metadata.name)
      for (const { securityContext } of pod.containers)
        t.same(securityContext, {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        })
    }
  })

  t.test('scaling changes no pod that is there', async (t) => {
    const templateOf = (set: readonly string[]) =>
      rendered(set)
        .filter(({ kind }) => kind === 'StatefulSet')
        .map(({ spec }) => spec.template)
    t.same(templateOf(['replicas=5']), templateOf([]))
    const zoned = ['zones={a,b,c}', 'founders=1']
    t.same(templateOf([...zoned, 'replicas=2']), templateOf([...zoned, 'replicas=1']))
  })

  t.test('several StatefulSets never replace their pods at the same time', async (t) => {
    const strategies = rendered(VARIANTS[2] ?? [])
      .filter(({ kind }) => kind === 'StatefulSet')
      .map(({ spec }) => spec.updateStrategy.type)
    t.same(strategies, ['OnDelete', 'OnDelete', 'OnDelete'])
  })

  t.test('changes members only with a token, by Jobs of Helm', async (t) => {
    const jobs = (set: readonly string[]) =>
      rendered(set)
        .filter(({ kind }) => kind === 'Job')
        .map(({ metadata }) => metadata.name)
        .sort()
    t.same(jobs(['replicas=5']), ['holdfast-secrets'])
    t.same(jobs(['members.tokenSecret=owner']), ['holdfast-leave', 'holdfast-secrets'])
    t.same(jobs(VARIANTS[1] ?? []), ['holdfast-join-1', 'holdfast-leave', 'holdfast-secrets'])
    for (const { kind, spec } of rendered(VARIANTS[1] ?? []))
      if (kind === 'StatefulSet') t.notOk(spec.template.spec.containers[0]?.lifecycle, 'no hook of a pod')
  })

  t.test('writes the provider of the master key into the configuration that a node accepts', async (t) => {
    const [, written = ''] =
      /^ {2}node\.yaml: \|\n([^]*?)^ {2}\S/m.exec(helm('template', VARIANTS[4] ?? []).stdout) ?? []
    const file = join(temporaryFolder(t), 'node.yaml')
    writeFileSync(file, written.replace(/^ {4}/gm, ''))
    const environment = { HOLDFAST_NODE__ID: 'holdfast-0', HOLDFAST_CLUSTER__ID: 'test-cluster' }
    const { config, faults } = examineConfig(file, environment)
    t.same(faults, [])
    t.match(config?.security.keyProvider, { kind: 'vault', auth: 'kubernetes', keyName: 'holdfast' })
    const plain = VARIANTS[4]?.filter((one) => !one.startsWith('secrets.')) ?? []
    t.match(helm('template', plain).stderr, /the Job of the chart makes a plain master key/)
  })

  t.test('refuses fewer replicas than founders, and values that the schema does not know', async (t) => {
    t.match(helm('template', ['replicas=2']).stderr, /founding members are not removed by this chart/)
    t.match(helm('template', ['replica=2']).stderr, /replica/)
  })
})
