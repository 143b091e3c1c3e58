/**
 * boto3, in each Python of this machine that has it: an old one of the distribution, and newer ones.
 *
 * Owns: finding them, and the steps that boto3_round_trip.py reports. S3_CLIENTS_PYTHON names further interpreters, with colons between.
 */
import { equal } from 'node:assert/strict'
import { createInterface } from 'node:readline'
import { join } from 'node:path'
import { spawnSync } from 'node:child_process'
import type { ClientScript, FoundClient } from './base/client-script.ts'
import { digestOfBytes, ODD_NAMES, writeLocal } from './base/files.ts'
import { type Program, programsNamed, started } from './base/programs.ts'
import type { PlayedStep, Stage } from './base/stage.ts'

const SCRIPT = join(import.meta.dirname, 'boto3_round_trip.py')

function interpreters(): readonly Program[] {
  const named = (process.env['S3_CLIENTS_PYTHON'] ?? '').split(':').filter((path) => path !== '')
  const inPath = programsNamed('python3').map(({ path }) => path)
  const found: Program[] = []
  for (const path of [...inPath, ...named]) {
    const { status, stdout } = spawnSync(path, ['-c', 'import boto3; print(boto3.__version__)'], {
      encoding: 'utf8',
    })
    const version = stdout.trim()
    if (status === 0 && !found.some((other) => other.version === version)) found.push({ path, version })
  }
  return found
}

async function play(stage: Stage, python: string): Promise<void> {
  const bucket = stage.bucket('boto3')
  const { sizes, credentials, endpoints } = stage
  const big = await writeLocal(stage.path('big.bin'), sizes.bigBytes, 'big')
  const given = {
    ...credentials,
    endpoints,
    bucket,
    oddNames: ODD_NAMES,
    partBytes: sizes.partBytes,
    bigFile: big.path,
    bigBytes: big.bytes,
    bigSha256: big.sha256,
    keepsGoing: stage.keepsGoing,
  }
  const child = started([python, SCRIPT, JSON.stringify(given)], { isSpokenTo: true })
  let errors = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (errors += text))
  const end = new Promise<number | string>((resolve) =>
    child.once('close', (code, signal) => resolve(code ?? signal ?? '')),
  )
  for await (const line of createInterface({ input: child.stdout ?? process.stdin })) {
    const step = JSON.parse(line) as PlayedStep
    if (step.failure === null && step.name === 'get_object of unusual keys') {
      const expected = new Map(ODD_NAMES.map((key) => [key, digestOfBytes(Buffer.from(key))] as const))
      await stage.native.holds(bucket, expected)
    }
    stage.record(step)
    child.stdin?.write('next\n')
  }
  equal(await end, 0, errors)
}

export const BOTO3: ClientScript = {
  name: 'boto3',
  absence: 'apt-get install python3-boto3',
  find: () =>
    interpreters().map(({ path, version }): FoundClient => ({ version, play: (stage) => play(stage, path) })),
}
