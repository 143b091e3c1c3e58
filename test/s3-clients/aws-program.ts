/**
 * Commands of one version of the AWS command line, at the node that the caller names.
 */
import { writeFileSync } from 'node:fs'
import { type Program, ran, refused, type RunOptions } from './base/programs.ts'
import type { Stage } from './base/stage.ts'

export type Json = Readonly<Record<string, unknown>>

export class AwsProgram {
  readonly #program: Program
  readonly #env: Readonly<Record<string, string>>

  constructor(program: Program, stage: Stage) {
    this.#program = program
    this.#env = environment(stage)
  }

  /** `aws s3`. `words` is cut at spaces, `paths` are arguments as they are. */
  async s3(endpoint: string, words: string, ...paths: readonly string[]): Promise<string> {
    return (await this.piped(endpoint, {}, [...words.split(' '), ...paths])).toString()
  }

  /** `aws s3` with something else than text in or out. */
  piped(endpoint: string, options: RunOptions, args: readonly string[]): Promise<Buffer> {
    return ran(this.#command(endpoint, ['s3', ...args]), { ...options, env: this.#env })
  }

  /** `aws s3api`. */
  async api(endpoint: string, operation: string, ...args: readonly string[]): Promise<Json> {
    const out = await ran(this.#command(endpoint, ['s3api', operation, ...args]), { env: this.#env })
    return out.toString().trim() === '' ? {} : (JSON.parse(out.toString()) as Json)
  }

  /** Any command that must fail; resolves with what it prints. */
  refused(endpoint: string, ...args: readonly string[]): Promise<string> {
    return refused(this.#command(endpoint, args), { env: this.#env })
  }

  #command(endpoint: string, args: readonly string[]): readonly string[] {
    return [this.#program.path, '--endpoint-url', endpoint, '--output', 'json', ...args]
  }
}

function environment(stage: Stage): Readonly<Record<string, string>> {
  const { accessKeyId, secretKey } = stage.credentials
  const { partBytes } = stage.sizes
  const config = stage.path('aws-config')
  // Without the version, some releases presign with version 2 for an address that is not of AWS.
  const s3 = [
    'addressing_style = path',
    'signature_version = s3v4',
    `multipart_threshold = ${partBytes}`,
    `multipart_chunksize = ${partBytes}`,
  ]
  writeFileSync(config, `[default]\ns3 =\n${s3.map((line) => `  ${line}\n`).join('')}`)
  return {
    AWS_CONFIG_FILE: config,
    AWS_SHARED_CREDENTIALS_FILE: stage.path('aws-credentials'),
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretKey,
    AWS_DEFAULT_REGION: 'us-east-1',
    AWS_EC2_METADATA_DISABLED: 'true',
    AWS_PAGER: '',
  }
}
