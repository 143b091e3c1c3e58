/**
 * `npm run schemathesis [-- --seeds 1,2,3 --examples N --only data|admin]`: Schemathesis, where it is installed, at both contract documents.
 *
 * Owns: one real node for each document and seed, exit code 1 for a finding. Knows nothing of: what is judged; schemathesis.toml says it.
 * Rule: the program is not part of the project. Where it is absent, the run is skipped and says so.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { FuzzWorld } from '../fuzz/fuzz-world.ts'

const HERE = import.meta.dirname
const COMMAND = process.env['SCHEMATHESIS'] ?? 'schemathesis'
const DOCUMENTS = { data: '/api/v1/openapi.json', admin: '/admin/api/v1/openapi.json' } as const
type Plane = keyof typeof DOCUMENTS
const PLANES: readonly Plane[] = ['data', 'admin']

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1,2,3' },
    examples: { type: 'string', default: '60' },
    only: { type: 'string' },
  },
})
const say = (text: string): void => void process.stdout.write(`${text}\n`)

/** What the examples of the data plane read. */
async function fill({ target }: FuzzWorld): Promise<void> {
  const [node] = target.nodes
  const authorization = await target.dataAuthorization()
  const put = async (method: string, path: string, type: string, body: string): Promise<void> => {
    const headers = { authorization, 'content-type': type }
    const answer = await fetch(`${node?.dataUrl}/api/v1/buckets${path}`, { method, headers, body })
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
  }
  const bucket = JSON.stringify({ name: 'photos', objectLockEnabled: true })
  await put('POST', '', 'application/json', bucket)
  await put('PUT', '/photos/objects/2026/cat.txt', 'text/plain', 'hello')
}

async function judge(plane: Plane, seed: string, world: FuzzWorld): Promise<boolean> {
  // It keeps what it learnt in the folder it is started in.
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-schemathesis-'))
  await fill(world)
  const [node] = world.target.nodes
  const url = plane === 'data' ? node?.dataUrl : node?.adminUrl
  const { adminAuthorization, dataAuthorization } = world.target
  const authorization = plane === 'data' ? await dataAuthorization() : adminAuthorization
  const run = spawn(
    COMMAND,
    [
      '--config-file',
      join(HERE, 'schemathesis.toml'),
      'run',
      `${url}${DOCUMENTS[plane]}`,
      '--url',
      `${url}`,
      '--header',
      `Authorization: ${authorization}`,
      '--phases',
      'examples,coverage,fuzzing',
      '--continue-on-failure',
      '--no-color',
      '--warnings',
      'off',
      '--workers',
      '1',
      '--seed',
      seed,
      '--max-examples',
      values.examples,
    ],
    { cwd: folder, stdio: 'inherit', env: { ...process.env, SCHEMATHESIS_HOOKS: join(HERE, 'checks.py') } },
  )
  const [code] = (await once(run, 'exit')) as [number | null]
  rmSync(folder, { recursive: true, force: true })
  for (const line of world.errors.slice(0, 10)) say(line)
  const isWell = await world.isWell()
  say(`${plane} document, seed ${seed}: exit code ${code}, node ${isWell ? 'well' : 'not well'}`)
  return code === 0 && isWell && world.errors.length === 0
}

async function main(): Promise<boolean> {
  const version = spawnSync(COMMAND, ['--version'], { encoding: 'utf8' })
  if (version.status !== 0) {
    say(
      `skipped: there is no program "${COMMAND}"; install it (pip install schemathesis) or name it in SCHEMATHESIS`,
    )
    return true
  }
  say(version.stdout.trim())
  let isClean = true
  for (const seed of values.seeds.split(','))
    for (const plane of PLANES.filter((each) => values.only === undefined || values.only === each)) {
      const ends: (() => unknown)[] = []
      try {
        const world = await FuzzWorld.start({ teardown: (end) => ends.unshift(end) }, 1)
        isClean = (await judge(plane, seed, world)) && isClean
      } finally {
        for (const end of ends) await end()
      }
    }
  return isClean
}

process.exitCode = (await main()) ? 0 : 1
