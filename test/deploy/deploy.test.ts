/**
 * The deployment files fit each other, the code and the tree: read and compared, without podman or docker.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { loadConfig } from '../../src/config/load-config.ts'
import type { Config } from '../../src/config/types.ts'
import * as files from './files.ts'
import { compose, instructions, mountsOf, NODES, read, ROOT, service } from './files.ts'

const CLUSTER_ID = 'HOLDFAST_CLUSTER__ID'
const SCRIPTS = [
  'deploy/make-secrets.sh',
  'deploy/smoke.sh',
  'deploy/up-with-podman.sh',
  'deploy/podman/base-image.sh',
  'deploy/podman/remove-firewall-chains.sh',
]

/** The configuration of a node as its container sees it; cluster.env gives the cluster id. */
function configOf(node: string): Config {
  return loadConfig(files.inRoot('deploy/node.yaml'), {
    ...service(node).environment,
    [CLUSTER_ID]: '0123456789abcdef0123456789abcdef',
  })
}

const portOf = (address: string): string => address.split(':').at(-1) ?? ''

const tracked = (...folders: readonly string[]): readonly string[] =>
  execFileSync('git', ['ls-files', ...folders], { cwd: ROOT, encoding: 'utf8' })
    .split('\n')
    .filter((path) => path !== '' && files.exists(path))

t.test('docker-compose.cluster.yml', async (t) => {
  t.test('runs three nodes and Prometheus, each with volumes of its own', async (t) => {
    t.same(Object.keys(compose.services), [...NODES, 'prometheus'])
    const named = Object.keys(compose.services)
      .flatMap((name) => mountsOf(name))
      .map(({ source }) => source)
      .filter((source) => !source.startsWith('.'))
    t.equal(new Set(named).size, named.length, 'no volume is used twice')
    t.same([...named].sort(), Object.keys(compose.volumes).sort(), 'all are declared, and no others')
  })

  t.test('publishes ports on loopback only, no two the same', async (t) => {
    const published = Object.values(compose.services).flatMap(({ ports }) =>
      ports.map((port) => files.fillIn(port)),
    )
    for (const port of published) t.match(port, /^127\.0\.0\.1:\d+:\d+$/)
    t.equal(new Set(published.map((port) => port.split(':')[1])).size, published.length)
  })

  t.test('mounts only files that exist or that make-secrets makes, all read-only', async (t) => {
    for (const name of Object.keys(compose.services)) {
      for (const { source, target, isReadOnly } of mountsOf(name)) {
        if (!source.startsWith('.')) continue
        t.ok(isReadOnly, `${name}: ${target}`)
        if (source === `./deploy/secrets/${name}`) continue
        t.ok(files.exists(source), `${name}: ${source}`)
        t.equal(
          statSync(files.inRoot(source)).mode & 0o004,
          0o004,
          `${source} can be read by the container's user`,
        )
      }
    }
  })

  t.test('gives every node its own secrets and no rights', async (t) => {
    for (const node of NODES) {
      const { hostname, env_file, read_only, cap_drop, security_opt, privileged, user } = service(node)
      const secrets = mountsOf(node).filter(({ source }) => source.includes('secrets'))
      t.same(secrets, [{ source: `./deploy/secrets/${node}`, target: '/run/holdfast', isReadOnly: true }])
      t.equal(files.fillIn(env_file ?? ''), './deploy/secrets/cluster.env')
      t.match({ hostname, read_only, cap_drop }, { hostname: node, read_only: true, cap_drop: ['ALL'] })
      t.same([security_opt, privileged, user], [['no-new-privileges:true'], undefined, undefined])
    }
    t.ok(mountsOf('prometheus').every(({ source }) => !source.includes('secrets')))
  })

  t.test('waits longer for a node to stop than the node needs', async (t) => {
    const stopMs = /STOP_MS_MAX = ([\d_]+)/
      .exec(read('src/cli/local/server-command.ts'))?.[1]
      ?.replaceAll('_', '')
    for (const node of NODES) {
      t.ok(Number.parseInt(service(node).stop_grace_period ?? '', 10) * 1000 > Number(stopMs), node)
    }
  })
})

t.test('deploy/node.yaml', async (t) => {
  t.test('is a configuration that every node accepts with the environment of the compose file', async (t) => {
    for (const node of NODES) {
      const config = configOf(node)
      t.equal(config.node.id, node)
      t.same(
        config.cluster.members.map(({ nodeId, peerAddress }) => [nodeId, peerAddress]),
        NODES.map((id) => [id, `${id}:${portOf(config.listeners.peer)}`]),
        'the members are the services, by their names in the network',
      )
    }
  })

  t.test('names only paths that the compose file mounts', async (t) => {
    const config = configOf('n1')
    const targets = mountsOf('n1').map(({ target }) => target)
    t.ok(targets.includes(config.node.dataDir))
    const { ca, cert, key } = config.peerTls ?? { ca: '', cert: '', key: '' }
    for (const path of [ca, cert, key, config.security.masterKeyFile])
      t.ok(targets.includes(dirname(path)), path)
  })

  t.test('listens on the ports that are published, probed and scraped', async (t) => {
    const { data, admin, peer } = configOf('n1').listeners
    t.same(instructions('EXPOSE'), [[data, admin, peer].map(portOf).join(' ')])
    for (const node of NODES) {
      const inside = service(node).ports.map((port) => portOf(files.fillIn(port)))
      t.same(inside, [portOf(data), portOf(admin)], 'the peer port is published nowhere')
      t.same(service(node).healthcheck?.test.at(-1), `http://127.0.0.1:${portOf(admin)}/readyz`)
    }
    const { scrape_configs } = parse(read('deploy/prometheus/prometheus.yml'))
    t.same(
      scrape_configs[0].static_configs[0].targets,
      NODES.map((node) => `${node}:${portOf(admin)}`),
    )
    t.equal(
      configOf('n1').metrics.public,
      scrape_configs[0].authorization === undefined,
      'no token is needed',
    )
  })
})

t.test('deploy/Dockerfile', async (t) => {
  t.test('is based on the Node version of the project', async (t) => {
    const { devDependencies } = JSON.parse(read('package.json'))
    const bases = instructions('FROM').map((rest) => rest.split(' ')[0] ?? '')
    t.ok(bases.length > 0)
    for (const base of bases) {
      t.equal(/\/node:(\d+)-/.exec(base)?.[1], devDependencies.node.split('.')[0], base)
      t.match(read('deploy/podman/base-image.sh'), `readonly IMAGE=${base}\n`)
    }
  })

  t.test('copies only what exists and .dockerignore lets in', async (t) => {
    const sources = instructions('COPY')
      .filter((rest) => !rest.startsWith('--from'))
      .flatMap((rest) => rest.split(' ').slice(0, -1))
    t.ok(sources.includes('src') && sources.includes('cluster'))
    for (const source of sources) t.ok(files.exists(source) && files.isLetIn(source), source)
    for (const path of tracked('src', 'cluster')) t.ok(files.isLetIn(path), path)
  })

  t.test('runs as a user without rights, who owns the data and the secrets', async (t) => {
    const [user = ''] = instructions('USER')
    t.match(user, /^[1-9]\d*:[1-9]\d*$/)
    const uid = user.split(':')[0]
    t.match(read('deploy/make-secrets.sh'), `readonly OWNER=${uid}\n`)
    const { dataDir } = configOf('n1').node
    t.same(instructions('VOLUME'), [dataDir])
    t.ok(instructions('RUN').some((run) => run.includes(`chown ${user} ${dataDir}`)))
    t.equal(files.dockerfile.filter(({ word }) => word === 'FROM' || word === 'USER').at(-1)?.word, 'USER')
  })

  t.test('starts the service itself with the mounted configuration, and probes liveness', async (t) => {
    const [command] = instructions('CMD')
    const words: string[] = JSON.parse(command ?? '')
    const started = ['node', '--max-semi-space-size=8', 'dist/bundle/main.js', 'server', '--config']
    t.same(words.slice(0, 5), started, 'Node is process 1')
    t.ok(
      mountsOf('n1').some(({ source, target }) => source === './deploy/node.yaml' && target === words.at(-1)),
    )
    t.match(instructions('HEALTHCHECK')[0], '/healthz')
    t.ok(files.exists('src/main.ts'))
  })
})

t.test('secrets and data', async (t) => {
  const secret = ['deploy/secrets/ca/master.key', 'deploy/secrets/n1/node.key', 'deploy/secrets/cluster.env']
  t.test('never enter git', async (t) => {
    for (const path of [...secret, 'data/n1/raft/x']) {
      t.equal(spawnSync('git', ['check-ignore', '--quiet', path], { cwd: ROOT }).status, 0, path)
    }
    t.same(
      tracked('deploy').filter((path) => /\.(key|crt|pem|env)$/.test(path)),
      [],
    )
  })

  t.test('never enter the build, nor does anything else that it does not need', async (t) => {
    const outside = [
      'data/master.key',
      '.git/config',
      'node_modules/level/index.js',
      'dist/bundle/main.js',
      'test/x.ts',
    ]
    for (const path of [...secret, ...outside]) t.notOk(files.isLetIn(path), path)
  })
})

t.test('the scripts', async (t) => {
  t.test('are valid bash, stop at the first error and can be called', async (t) => {
    t.same(
      tracked('deploy').filter((path) => path.endsWith('.sh')),
      [...SCRIPTS].sort(),
    )
    for (const script of SCRIPTS) {
      const { status, stderr } = spawnSync('bash', ['-n', join(ROOT, script)], { encoding: 'utf8' })
      t.same([status, stderr], [0, ''], script)
      t.match(read(script), /^#!\/usr\/bin\/env bash\n[\s\S]*\nset -euo pipefail\n/, script)
    }
    for (const script of SCRIPTS.slice(0, 3))
      t.ok(statSync(join(ROOT, script)).mode & 0o100, `${script} is executable`)
  })

  t.test('name the images and ports of the compose file', async (t) => {
    const podman = read('deploy/up-with-podman.sh')
    t.match(podman, `PROMETHEUS_IMAGE=${service('prometheus').image}\n`)
    t.match(podman, `-t ${service('n1').image} `)
    const variables = [...read('docker-compose.cluster.yml').matchAll(/\$\{(\w+):-/g)].map(
      (match) => match[1] ?? '',
    )
    t.equal(new Set(variables).size, 8)
    for (const variable of variables) t.match(podman, new RegExp(`\\b${variable}=\\$`), variable)
  })

  t.test('explain themselves and refuse what they do not know', async (t) => {
    for (const script of ['deploy/make-secrets.sh', 'deploy/up-with-podman.sh']) {
      const help = spawnSync('bash', [join(ROOT, script), '--help'], { encoding: 'utf8' })
      t.match([help.status, help.stdout], [0, /^Usage: /], script)
      const wrong = spawnSync('bash', [join(ROOT, script), '--nonsense'], { encoding: 'utf8' })
      t.match([wrong.status, wrong.stderr], [2, "unknown option '--nonsense'"], script)
    }
    const smoke = spawnSync('bash', [join(ROOT, 'deploy/smoke.sh')], { encoding: 'utf8' })
    t.match([smoke.status, smoke.stderr], [2, /^Usage: /])
  })
})
