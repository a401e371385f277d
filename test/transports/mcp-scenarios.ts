/**
 * Every server scenario of the official conformance suite, and why it applies here or does not. `applies` scenarios must
 * pass; the others ask for something that this server does not offer, by their own names.
 */
export const serverScenarios = {
  'server-initialize': { applies: true, reason: 'a 2025 client is answered its handshake' },
  ping: { applies: true, reason: 'a ping is answered' },
  'tools-list': { applies: true, reason: 'tools are listed, each with a name, a description and a schema' },
  'tools-call-error': { applies: true, reason: 'a call that fails is a result with isError' },
  'dns-rebinding-protection': { applies: true, reason: 'a foreign Host or Origin is refused, our own is served' },

  'logging-set-level': { applies: false, reason: 'no logging capability is announced' },
  'completion-complete': { applies: false, reason: 'no completions capability is announced' },
  'tools-call-simple-text': { applies: false, reason: 'asks for a tool of the suite, test_simple_text' },
  'tools-call-image': { applies: false, reason: 'asks for a tool of the suite; results here are text and structure' },
  'tools-call-audio': { applies: false, reason: 'asks for a tool of the suite; results here are text and structure' },
  'tools-call-embedded-resource': { applies: false, reason: 'no resources capability is announced' },
  'tools-call-mixed-content': { applies: false, reason: 'asks for a tool of the suite that mixes kinds of content' },
  'tools-call-with-logging': { applies: false, reason: 'no logging capability is announced' },
  'tools-call-with-progress': { applies: false, reason: 'no tool reports progress: each is answered at once' },
  'tools-call-sampling': { applies: false, reason: 'the server asks no client for a model' },
  'tools-call-elicitation': {
    applies: false,
    reason: 'the server asks no client for input: the owner decides at the desk',
  },
  'json-schema-2020-12': { applies: false, reason: 'asks for a tool of the suite, json_schema_2020_12_tool' },
  'elicitation-sep1034-defaults': { applies: false, reason: 'the server asks no client for input' },
  'elicitation-sep1330-enums': { applies: false, reason: 'the server asks no client for input' },
  'server-sse-polling': {
    applies: false,
    reason: 'no session and no stream to resume: each request is answered whole',
  },
  'server-sse-multiple-streams': {
    applies: false,
    reason: 'no session, so no streams of one: the suite checks nothing',
  },
  'resources-list': { applies: false, reason: 'no resources capability is announced' },
  'resources-read-text': { applies: false, reason: 'no resources capability is announced' },
  'resources-read-binary': { applies: false, reason: 'no resources capability is announced' },
  'resources-templates-read': { applies: false, reason: 'no resources capability is announced' },
  'resources-subscribe': { applies: false, reason: 'no resources capability is announced' },
  'resources-unsubscribe': { applies: false, reason: 'no resources capability is announced' },
  'prompts-list': { applies: false, reason: 'no prompts capability is announced' },
  'prompts-get-simple': { applies: false, reason: 'no prompts capability is announced' },
  'prompts-get-with-args': { applies: false, reason: 'no prompts capability is announced' },
  'prompts-get-embedded-resource': { applies: false, reason: 'no prompts capability is announced' },
  'prompts-get-with-image': { applies: false, reason: 'no prompts capability is announced' },
} as const satisfies Readonly<Record<string, { readonly applies: boolean; readonly reason: string }>>;
