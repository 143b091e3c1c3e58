/**
 * The texts of the reference of the API and of lines for a shell, in English, under the rules of strings.ts.
 */
export const REQUESTS = {
  title: 'Requests of this page as curl',
  about:
    'The newest first. $TOKEN stands for your token: of the admin API, or, below /console/data, the one for which an access key is exchanged.',
  all: 'Show reads too',
  onlyChanges: 'Show changes and plans only',
  none: 'Nothing was changed or planned yet.',
  pages: 'Reference of both APIs',
  asCurl: 'As curl',
  notYet: 'Fill in what is asked for, and the line is here.',
  line: (method: string, path: string, status: number | null) =>
    `${method} ${path}${status === null ? '' : `, answered with ${status}`}`,
} as const

export const API = {
  title: 'Reference of the API',
  planes: { data: 'Data plane', admin: 'Admin plane' },
  about:
    'Every operation, with what it takes and answers. A line for a shell stands with each; $TOKEN is your token.',
  pages: 'The same as pages of the documentation',
  none: 'No operation has these words.',
  noDocument: 'This node is built without its documentation, which contains this document.',
  search: 'Path, operation or words',
  count: (operations: number) => `${operations} ${operations === 1 ? 'operation' : 'operations'}`,
  parameters: 'Parameters',
  body: 'Body',
  answer: (status: string) => `Answer ${status}`,
  errors: 'Other answers',
  member: 'Member',
  type: 'Type',
  required: 'required',
  example: (operation: string) => `curl: ${operation}`,
} as const
