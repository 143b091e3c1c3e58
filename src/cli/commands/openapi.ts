/**
 * `holdfast openapi`: its names, options and help.
 */
import { Argument, Command } from 'commander'
import type { OpenApiOptions } from '../local/openapi-command.ts'
import { type Done, examples, jsonOption } from './options.ts'

export function openApiCommand(done: Done): Command {
  return new Command('openapi')
    .description('print the OpenAPI document of an API of this version; needs no running node')
    .addArgument(new Argument('<api>', 'which API').choices(['data', 'admin']))
    .option('--out <file>', 'write it into a file; an existing file is replaced')
    .addOption(jsonOption())
    .addHelpText('after', examples('openapi data', 'openapi admin --out admin.json'))
    .action(async (api: 'data' | 'admin', options: OpenApiOptions) => {
      const { writeOpenApi } = await import('../local/openapi-command.ts')
      done(await writeOpenApi(api, options))
    })
}
