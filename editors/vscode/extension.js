const { ProcessExecution, Task, TaskScope, tasks, workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

const program = () => workspace.getConfiguration("mkeyspec").get("command", "mkeyspec");

const matchers = ["$mkeyspec", "$mkeyspec-source"];

// What "Run Task" offers without a tasks.json.
const offered = [
  ["check", []],
  ["compile", []],
  ["fmt", []],
  ["run", ["--device", "model"]],
  ["run", ["--device", "soft"]],
];

const task = (definition, scope) => {
  const words = [definition.command, ...(definition.args || [])];
  return new Task(definition, scope, words.join(" "), "mkeyspec", new ProcessExecution(program(), words), matchers);
};

const provider = {
  provideTasks: () => offered.map(([command, args]) => task({ type: "mkeyspec", command, args }, TaskScope.Workspace)),
  resolveTask: (given) => given.definition.command && task(given.definition, given.scope || TaskScope.Workspace),
};

exports.activate = (context) => {
  context.subscriptions.push(tasks.registerTaskProvider("mkeyspec", provider));
  const options = { documentSelector: [{ language: "mks" }] };
  client = new LanguageClient("mkeyspec", "mkeyspec", { command: program(), args: ["lsp"] }, options);
  return client.start();
};

exports.deactivate = () => client && client.stop();
