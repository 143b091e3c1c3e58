/**
 * `holdfast token`: a bearer token for many commands, or for other programs.
 *
 * Without it each command requests a token of its own, and the number of tokens for a key per minute is limited.
 */
import { askData } from '../base/asking.ts'
import { dataAccess, type DataAccessOptions } from '../base/cluster-access.ts'
import { CommandError, EXIT } from '../base/exit.ts'
import { note, printJson, printLine } from '../base/printing.ts'

export interface TokenOptions extends DataAccessOptions {
  readonly json?: boolean
}

export function getToken(options: TokenOptions): Promise<number> {
  const access = dataAccess(options)
  if ('token' in access)
    throw new CommandError('A token cannot be used to get another token', {
      code: 'invalid_argument',
      hint: 'Unset HOLDFAST_TOKEN, and set an access key.',
      exitCode: EXIT.usage,
    })
  const { accessKeyId, secretKey } = access
  return askData(options, async (client) => {
    const { answer } = await client.call('createToken', {
      body: { accessKeyId, secretKey },
      isRepeatable: true,
    })
    if (options.json) printJson(answer)
    else {
      printLine(answer.token)
      note(`Valid until ${answer.expiresAt} for anyone who has it: export HOLDFAST_TOKEN=…`)
    }
    return EXIT.done
  })
}
