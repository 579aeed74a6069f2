"""Chat templates with the peculiarities of each model family."""

from __future__ import annotations

from edgevox.core.types import JsonObject, Message, ToolCall

# Prints every role alike, also ones that the model has never seen.
SMOLLM2 = """
{%- for m in messages %}
    {%- if loop.first and m.role != 'system' %}
        {{- '<|im_start|>system\\nYou are small.<|im_end|>\\n' }}
    {%- endif %}
    {{- '<|im_start|>' + m['role'] + '\\n' + m['content'] + '<|im_end|>' + '\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"""

# Tools in the system message, calls as JSON in tags, results as the user's.
QWEN25 = """
{%- macro call(c) %}<tool_call>
{"name": "{{ c.function.name }}", "arguments": {{ c.function.arguments | tojson }}}
</tool_call>{% endmacro %}
{%- set given = messages[0].content if messages[0].role == 'system' else 'You are helpful.' %}
{{- '<|im_start|>system\\n' + given }}
{%- if tools %}{{ '\\n\\n# Tools\\n<tools>' }}
    {%- for tool in tools %}{{ '\\n' + tool | tojson }}{% endfor %}
    {{- '\\n</tools>' }}
{%- endif %}
{{- '<|im_end|>\\n' }}
{%- for m in messages %}
    {%- if m.role == 'tool' %}
        {{- '<|im_start|>user\\n<tool_response>\\n' + m.content + '\\n</tool_response><|im_end|>\\n' }}
    {%- elif m.tool_calls %}
        {{- '<|im_start|>assistant\\n' + m.content }}
        {%- for c in m.tool_calls %}{{ call(c) }}{% endfor %}
        {{- '<|im_end|>\\n' }}
    {%- elif not (m.role == 'system' and loop.first) %}
        {{- '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"""

# Shows past reasoning, and closes the block at once where no thinking is wanted.
QWEN3 = QWEN25.replace(
    "{{- '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n' }}",
    "{{- '<|im_start|>' + m.role + '\\n' }}"
    "{%- if m.reasoning_content %}{{ '<think>' + m.reasoning_content + '</think>' }}{% endif %}"
    "{{- m.content + '<|im_end|>\\n' }}",
).replace(
    "{{ '<|im_start|>assistant\\n' }}{% endif %}",
    "{{ '<|im_start|>assistant\\n' + ('<think>\\n' if enable_thinking else '<think>\\n\\n</think>\\n\\n') }}"
    "{% endif %}",
)

# One call at a time, a role of its own for results, the date in front, tools in the first question.
LLAMA32 = """
{{- bos_token }}
{%- if not date_string is defined %}{% set date_string = strftime_now('%d %b %Y') %}{% endif %}
{%- set system = messages[0].content if messages[0].role == 'system' else '' %}
{%- set rest = messages[1:] if messages[0].role == 'system' else messages %}
{{- '<|start_header_id|>system<|end_header_id|>\\n\\nToday: ' + date_string + '\\n' + system + '<|eot_id|>' }}
{%- for m in rest %}
    {%- if m.tool_calls is defined %}
        {%- if m.tool_calls | length != 1 %}{{ raise_exception('only one call at a time') }}{% endif %}
        {%- set f = m.tool_calls[0].function %}
        {{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n{"name": "' + f.name + '", "parameters": ' }}
        {{- f.arguments | tojson + '}<|eot_id|>' }}
    {%- elif m.role == 'tool' %}
        {{- '<|start_header_id|>ipython<|end_header_id|>\\n\\n' + m.content | tojson + '<|eot_id|>' }}
    {%- else %}
        {{- '<|start_header_id|>' + m.role + '<|end_header_id|>\\n\\n' }}
        {%- if tools and loop.first %}
            {%- for t in tools %}
            {{- t | tojson(indent=4) + '\\n\\n' }}
        {%- endfor %}
        {%- endif %}
        {{- m.content | trim + '<|eot_id|>' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}{% endif %}"""

# Strict: question and answer in turn, ids of nine characters, tools before the last question.
MISTRAL = """
{%- set rest = messages[1:] if messages[0].role == 'system' else messages %}
{%- set questions = rest | selectattr('role', 'equalto', 'user') | list %}
{%- set ns = namespace(n=0) %}
{%- for m in rest if not (m.role == 'tool' or m.tool_calls is defined) %}
    {%- if (m.role == 'user') != (ns.n % 2 == 0) %}{{ raise_exception('roles must alternate') }}{% endif %}
    {%- set ns.n = ns.n + 1 %}
{%- endfor %}
{{- bos_token }}
{%- if messages[0].role == 'system' %}
    {{- '[SYSTEM_PROMPT]' + messages[0].content + '[/SYSTEM_PROMPT]' }}
{%- endif %}
{%- for m in rest %}
    {%- if m.role == 'user' %}
        {%- if tools and m == questions[-1] %}
            {{- '[AVAILABLE_TOOLS]' + tools | tojson + '[/AVAILABLE_TOOLS]' }}
        {%- endif %}
        {{- '[INST]' + m.content + '[/INST]' }}
    {%- elif m.tool_calls is defined %}
        {{- '[TOOL_CALLS][' }}
        {%- for c in m.tool_calls %}
            {%- if c.id | length != 9 %}{{ raise_exception('an id has nine characters') }}{% endif %}
            {{- (c.function | tojson)[:-1] + ', "id": "' + c.id + '"}' + (', ' if not loop.last else '') }}
        {%- endfor %}
        {{- ']' + eos_token }}
    {%- elif m.role == 'tool' %}
        {{- '[TOOL_RESULTS]{"content": ' + m.content | tojson + ', "call_id": "' + m.tool_call_id }}
        {{- '"}[/TOOL_RESULTS]' }}
    {%- elif m.role == 'assistant' %}{{ m.content + eos_token }}
    {%- else %}{{ raise_exception('no role ' + m.role) }}
    {%- endif %}
{%- endfor %}"""

# No system role, no tools, strict turns.
GEMMA = """
{{- bos_token }}
{%- if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}
{%- for m in messages %}
    {%- if (m['role'] == 'user') != (loop.index0 % 2 == 0) %}
        {{- raise_exception('roles must alternate') }}
    {%- endif %}
    {{- '<start_of_turn>' + ('model' if m['role'] == 'assistant' else m['role']) + '\\n' }}
    {{- m['content'] | trim + '<end_of_turn>\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<start_of_turn>model\\n' }}{% endif %}"""

# Arguments in either form; a switch named `thinking`.
GRANITE = """
{%- for m in messages %}
    {%- if loop.first %}
        {{- '<|start_of_role|>system<|end_of_role|>' }}
        {{- (m.content if m.role == 'system' else 'You are Granite.') }}
        {%- if thinking %}{{ ' Think first.' }}{% endif %}
        {%- if tools %}
            {{- '\\n<tools>' + tools | map(attribute='function') | list | tojson + '</tools>' }}
        {%- endif %}
        {{- '<|end_of_text|>\\n' }}
    {%- endif %}
    {%- if not (loop.first and m.role == 'system') %}
        {{- '<|start_of_role|>' + ('tool_response' if m.role == 'tool' else m.role) + '<|end_of_role|>' }}
        {{- m.content }}
        {%- for c in m.tool_calls or [] %}
            {%- set a = c.function.arguments %}
            {{- '<tool_call>{"name": "' + c.function.name + '", "arguments": ' }}
            {{- (a if a is string else a | tojson) + '}</tool_call>' }}
        {%- endfor %}
        {{- '<|end_of_text|>\\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<|start_of_role|>assistant<|end_of_role|>' }}{% endif %}"""

# Joins the arguments as text, shows calls only where the content is none, always opens its reasoning.
DEEPSEEK = """
{{- bos_token }}
{%- for m in messages if m.role == 'system' %}{{ m.content }}{% endfor %}
{%- for m in messages %}
    {%- if m.role == 'user' %}{{ '<｜User｜>' + m.content }}{% endif %}
    {%- if m.role == 'assistant' and m.content is none %}
        {{- '<｜Assistant｜>' }}
        {%- for c in m.tool_calls %}
            {{- '<｜call｜>' + c.function.name + '\\n```json\\n' + c.function.arguments + '\\n```' }}
        {%- endfor %}
    {%- elif m.role == 'assistant' %}{{ '<｜Assistant｜>' + m.content + eos_token }}{% endif %}
    {%- if m.role == 'tool' %}{{ '<｜output｜>' + m.content }}{% endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<｜Assistant｜><think>\\n' }}{% endif %}"""

# Lists tools and writes results, but its calls are the assistant's own text.
LFM2 = """
{{- bos_token }}
{%- set system = messages[0].content if messages[0].role == 'system' else '' %}
{%- if tools %}{% set system = system + '\\nTools: ' + tools | tojson %}{% endif %}
{%- if system %}{{ '<|im_start|>system\\n' + system + '<|im_end|>\\n' }}{% endif %}
{%- for m in messages if m.role != 'system' %}
    {{- '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"""

# Content is a list of parts, nothing else; that there are no tools is an empty list.
PARTS = """
{%- for t in tools %}{{ t.function.name }}{% endfor %}
{%- for m in messages %}{{ m.role }}:{% for p in m.content %}{{ p.text }}{% endfor %};{% endfor %}"""

FAMILIES = {
    "smollm2": SMOLLM2,
    "qwen2.5": QWEN25,
    "qwen3": QWEN3,
    "llama3.2": LLAMA32,
    "mistral": MISTRAL,
    "gemma": GEMMA,
    "granite": GRANITE,
    "deepseek": DEEPSEEK,
    "lfm2": LFM2,
}


def tool(name: str, description: str, **properties: JsonObject) -> JsonObject:
    parameters = {"type": "object", "properties": properties, "required": list(properties)}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


TOOLS = (
    tool("get_time", "The time in a place.", place={"type": "string"}),
    tool("set_light", "Switch a light.", room={"type": "string"}, on={"type": "boolean"}),
)
ASK = (Message("system", "Be short."), Message("user", "How late is it in Rome?"))
CALL = ToolCall("abc123def", "get_time", '{"place": "Rome"}')
OTHER_CALL = ToolCall("ghi456jkl", "set_light", '{"room": "hall", "on": true}')
RESULT = Message("tool", "noon", tool_call_id="abc123def")
OTHER_RESULT = Message("tool", '{"done": true}', tool_call_id="ghi456jkl")
EXCHANGE = (*ASK, Message("assistant", "", (CALL,)), RESULT)
TWO_CALLS = (*ASK, Message("assistant", "", (CALL, OTHER_CALL)), RESULT, OTHER_RESULT)
