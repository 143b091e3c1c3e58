/**
 * The real Prometheus with the rules of deploy/, on a folder and a port of its own.
 */
import { spawn } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { until } from '../helpers/async.ts'
import { inRoot } from './files.ts'

export const PROMETHEUS = 'prometheus'

interface Answers {
  readonly result: readonly { readonly value?: readonly [number, string] }[]
  readonly groups: readonly {
    readonly rules: readonly { readonly name: string; readonly lastError?: string }[]
  }[]
}

interface RunningTest {
  testdir(): string
  teardown(callback: () => unknown): unknown
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return typeof address === 'object' && address !== null ? address.port : 0
}

/** Asks its HTTP API; ended with the test. */
export async function startPrometheus(
  t: RunningTest,
  targets: readonly string[],
): Promise<{
  readonly url: string
  readonly ask: (path: string, query: Record<string, string>) => Promise<Answers>
}> {
  const dir = t.testdir()
  const url = `http://127.0.0.1:${await freePort()}`
  const config = {
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: ['alerts.yml', 'recording.yml'].map((name) => inRoot(`deploy/prometheus/${name}`)),
    scrape_configs: [{ job_name: 'holdfast', static_configs: [{ targets }] }],
  }
  const file = join(dir, 'prometheus.yml')
  await writeFile(file, stringify(config))
  const child = spawn(
    PROMETHEUS,
    [
      `--config.file=${file}`,
      `--storage.tsdb.path=${join(dir, 'data')}`,
      `--web.listen-address=${new URL(url).host}`,
      '--log.level=error',
    ],
    { stdio: 'ignore' },
  )
  const ended = new Promise((resolve) => child.once('close', resolve))
  t.teardown(async () => {
    child.kill()
    await ended
  })
  await until('Prometheus is ready', () =>
    fetch(`${url}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    ),
  )
  return {
    url,
    ask: async (path, query) => {
      const answer = await fetch(`${url}/api/v1/${path}?${new URLSearchParams(query).toString()}`)
      const { data } = (await answer.json()) as { data: Answers }
      return data
    },
  }
}
