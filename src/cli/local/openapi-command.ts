/**
 * `holdfast openapi data|admin`: the contract documents as a node of this version serves them, without a node. [decisions 15]
 *
 * Rule: the text is that of docs/openapi, so that a generated client and the servers have one source.
 */
import { writeFile } from 'node:fs/promises'
import { openApiText } from '../../api/server/openapi-documents.ts'
import { useMaskOfCaller } from '../../base/private-files.ts'
import { EXIT } from '../base/exit.ts'
import { note, printJson } from '../base/printing.ts'

export interface OpenApiOptions {
  readonly out?: string
  readonly json?: boolean
}

/** With --json on one line; with --out nothing but the name of the file. */
export async function writeOpenApi(
  api: 'data' | 'admin',
  { out, json = false }: OpenApiOptions,
): Promise<number> {
  const text = openApiText(api)
  if (out === undefined) {
    if (json) printJson(JSON.parse(text) as object)
    else process.stdout.write(text)
    return EXIT.done
  }
  useMaskOfCaller()
  await writeFile(out, text)
  if (json) printJson({ api, file: out })
  else note(`${out}: the OpenAPI document of the ${api} API`)
  return EXIT.done
}
